"""RayBackend: one agent on each of as many nodes of a Ray cluster. Needs the extra ``ray``.

Ray finds the machines and starts one process on each; what a job is, and how it ends, is ours as
everywhere else. Nodes must have this package; the control plane listens on this machine's address
in the cluster and wants a token of its own.
"""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reactor_runtime.errors import AgentLostError, PlacementError, SettingError
from reactor_runtime.launcher.agent_child import AgentChild
from reactor_runtime.launcher.agent_program import AgentSettings
from reactor_runtime.launcher.backend import LaunchBackend
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.scratch_folder import ScratchFolder

_REACH_S = 5.0
_END_S = 10.0
_STRATEGY = "STRICT_SPREAD"  # no two agents on one node


class AgentActor:
    """What Ray runs on a node: an agent as its child. Two calls at a time: ``run`` and ``stop``."""

    def __init__(self, settings: str) -> None:
        self._settings = AgentSettings.model_validate_json(settings)
        self._child: AgentChild | None = None

    def run(self) -> str:
        """Run the agent to its end; returns its last words."""
        with ScratchFolder("agent") as scratch:
            update = {"work_dir": scratch.path, "parent_pid": os.getpid()}
            with AgentChild(self._settings.model_copy(update=update), scratch.path) as child:
                self._child = child
                return child.wait()

    def stop(self) -> None:
        """Ask the agent to end."""
        if self._child is not None:
            self._child.stop()


class RayBackend(LaunchBackend):
    """Its agents are children of actors, which Ray ends with this process.

    Args:
        job: As for every backend.
        outputs: As for every backend.
        address: Of the cluster, as ``ray.init`` takes it.
        patience_s: How long Ray may take to find the nodes.

    Raises:
        SettingError: Ray is not installed.
    """

    def __init__(self, job: DistributedJob, outputs: Path, address: str, patience_s: float) -> None:
        super().__init__(job, outputs)
        try:
            import ray
        except ImportError as error:
            wanted = "it: pip install ray"
            raise SettingError("--backend", "ray, which is not installed", wanted) from error
        self._ray: Any = ray
        self._address, self._patience_s = address, patience_s
        self._runs: list[Any] = []

    @contextlib.contextmanager
    def _joined(self) -> Iterator[str]:
        self._look_for_cluster()
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level="error")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise self._absent(error) from error
        try:
            yield self._ray.util.get_node_ip_address()
        finally:
            self._ray.shutdown()

    def _look_for_cluster(self) -> None:
        """Raise soon where nobody listens: Ray itself would try for minutes.

        Raises:
            SettingError: Nobody does, or the address is no ``HOST:PORT`` of a cluster's own.
        """
        if self._address == "auto":
            return
        host, _, port = self._address.rpartition(":")
        if not host or not port.isdecimal() or "/" in host:
            wanted = "HOST:PORT of the cluster's head, or auto; this machine must be a node of it"
            raise SettingError("--ray-address", self._address, wanted)
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _REACH_S):
                return
        except (OSError, OverflowError) as error:
            raise self._absent(error) from error

    def _absent(self, error: Exception) -> SettingError:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        wanted = f"a running cluster (`ray start --head`): {reason}"
        return SettingError("--ray-address", self._address, wanted)

    @contextlib.contextmanager
    def _agents(self, folder: Path, settings: list[AgentSettings]) -> Iterator[None]:
        with self._placed() as group:
            actors = [self._actor(group, rank, each) for rank, each in enumerate(settings)]
            self._runs = [actor.run.remote() for actor in actors]
            try:
                yield
            finally:
                self._end(actors)

    def check(self) -> None:
        """Look whether the agents still run; raises as the base class says."""
        ended, _ = self._ray.wait(self._runs, num_returns=len(self._runs), timeout=0)
        for run in ended:
            name = self._name(self._runs.index(run))
            try:
                words = self._ray.get(run)
            except self._ray.exceptions.RayError as error:
                raise AgentLostError(name, str(error)) from error
            raise AgentLostError(name, words)

    @contextlib.contextmanager
    def _placed(self) -> Iterator[Any]:
        """Hold a node of its own for every agent, all or none."""
        from ray.util.placement_group import placement_group, remove_placement_group

        group = placement_group([self._bundle] * self._job.num_workers, strategy=_STRATEGY)
        try:
            if not group.wait(self._patience_s):
                raise PlacementError(self._wanted, self._patience_s, self._cluster())
            yield group
        finally:
            remove_placement_group(group)

    def _actor(self, group: Any, rank: int, settings: AgentSettings) -> Any:
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        kind = self._ray.remote(AgentActor).options(
            num_cpus=self._bundle["CPU"],
            num_gpus=self._bundle.get("GPU", 0),
            max_concurrency=2,
            max_restarts=0,
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                placement_group=group, placement_group_bundle_index=rank
            ),
        )
        return kind.remote(settings.model_dump_json())

    def _end(self, actors: list[Any]) -> None:
        with contextlib.suppress(self._ray.exceptions.RayError):
            for actor in actors:
                actor.stop.remote()
            self._ray.wait(self._runs, num_returns=len(self._runs), timeout=_END_S)
        for actor in actors:
            self._ray.kill(actor)

    @property
    def _bundle(self) -> dict[str, int]:
        procs = self._job.procs_per_worker
        return {"CPU": procs, **({"GPU": procs} if self._job.comm_backend == "nccl" else {})}

    @property
    def _wanted(self) -> str:
        each = " and ".join(f"{count} {name}" for name, count in self._bundle.items())
        return f"{self._job.num_workers} nodes with {each} each"

    def _cluster(self) -> str:
        """Return in words what the cluster has."""
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        return "; ".join(
            f"{node['NodeManagerAddress']} has "
            + ", ".join(f"{node['Resources'].get(name, 0):g} {name}" for name in self._bundle)
            for node in nodes
        )
