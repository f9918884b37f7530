"""GroupStart: everything that is decided before a group's first process, and the processes then."""

import importlib.util
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from reactor_runtime.author_text import text_of
from reactor_runtime.cores import usable_cores
from reactor_runtime.devices import torch_cuda_version, visible_cuda_devices
from reactor_runtime.distributed.anonymous_memory import make_anonymous_file
from reactor_runtime.distributed.class_reference import ClassReference
from reactor_runtime.distributed.crew import Spawn
from reactor_runtime.distributed.messages import Launch
from reactor_runtime.distributed.parcel import try_to_carry
from reactor_runtime.distributed.process_group import GroupMembership, HostedStore
from reactor_runtime.distributed.rank_environment import GroupEnvironment, with_our_package
from reactor_runtime.distributed.rank_log import wanted_level
from reactor_runtime.distributed.worker_plan import (
    Machine,
    Wish,
    WorkerPlan,
    make_worker_plan,
)
from reactor_runtime.distributed.worker_process import WorkerProcess
from reactor_runtime.errors import WorkerGroupRefusedError


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStart:
    """What the processes of a group are started with.

    Attributes:
        worker: Where the worker's class is found.
        plan: The ranks.
        environment: What their environments have in common.
        collective_s: Seconds a collective may wait; 0 for no bound.
        store_file: The open file they meet in; -1 for none.
        store: The parent's store where there is no such file.
    """

    worker: ClassReference
    plan: WorkerPlan
    environment: GroupEnvironment
    collective_s: float
    store_file: int = -1
    store: HostedStore | None = None

    @classmethod
    def prepare(
        cls,
        worker: ClassReference,
        plan: WorkerPlan,
        author_environment: Mapping[str, str],
        collective_s: float,
    ) -> "GroupStart":
        """Open what the ranks will meet in."""
        has_files = hasattr(os, "memfd_create")
        joins = plan.backend is not None
        return cls(
            worker=worker,
            plan=plan,
            environment=GroupEnvironment.draw(_free_port(), author_environment),
            collective_s=collective_s,
            store_file=make_anonymous_file("reactor-store") if joins and has_files else -1,
            store=HostedStore() if joins and not has_files else None,
        )

    def spawns(self, fields: Callable[[], Mapping[str, Any]]) -> Sequence[Spawn]:
        """Return what starts each rank; *fields* are added to the lines it logs."""
        parent, cores = dict(os.environ), usable_cores()
        return [
            partial(
                WorkerProcess,
                world.rank,
                with_our_package(self.environment.of_rank(world, parent, cores)),
                store_file=self.store_file,
                fields=fields,
            )
            for world in self.plan.worlds
        ]

    def orders(self) -> Sequence[Launch]:
        """Return the first message to each rank."""
        here = os.getcwd()
        folders = tuple(os.path.join(here, entry) for entry in sys.path)
        return [
            Launch(
                world=world,
                worker=self.worker,
                folders=folders,
                working_folder=here,
                membership=self._membership(),
                log_level=wanted_level(),
            )
            for world in self.plan.worlds
        ]

    def close(self) -> None:
        """Let go of what the ranks met in."""
        if self.store_file >= 0:
            os.close(self.store_file)
        if self.store is not None:
            self.store.close()

    def _membership(self) -> GroupMembership | None:
        if self.plan.backend is None:
            return None
        return GroupMembership(
            backend=self.plan.backend,
            store_file=f"/proc/self/fd/{self.store_file}" if self.store_file >= 0 else "",
            store_port=self.store.port if self.store is not None else 0,
            timeout_s=self.collective_s,
        )


def plan_here(
    world_size: int | None,
    device: str | None,
    backend: str | None,
    init_process_group: bool,
    oversubscribe: bool,
) -> WorkerPlan:
    """Return what is asked for as it comes to on this machine.

    Raises:
        WorkerGroupRefusedError: It cannot be; the error has the numbers and the cure.
    """
    wish = Wish(
        world_size=world_size,
        device=device,
        backend=backend,
        init_process_group=init_process_group,
        oversubscribe=oversubscribe,
    )
    return make_worker_plan(wish, this_machine(), os.environ)


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Find out, before anything starts, whether the arguments of ``setup`` can travel.

    Raises:
        WorkerGroupRefusedError: One of them cannot.
    """
    for name, value in arguments.items():
        try:
            try_to_carry(value)
        except Exception as error:
            what = f"argument {name!r} cannot be carried to a rank: {text_of(error)}"
            cure = "pass plain values, and functions from the top level of a module"
            raise WorkerGroupRefusedError(what, cure) from error


def this_machine() -> Machine:
    """Return what this machine has, without loading torch."""
    version = torch_cuda_version()
    has_torch = importlib.util.find_spec("torch") is not None
    return Machine(
        cuda_devices=visible_cuda_devices(),
        has_torch=has_torch,
        cuda_torch=has_torch and version not in (None, "none"),
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
