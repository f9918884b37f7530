"""SchedulerPlace: which node of which job an existing scheduler says this is. Pure.

Slurm, Kubernetes (Indexed Job) and PyTorchJob start one launcher on every node and say in
variables which node it is. The port must be known on every node without asking anybody, so it is
made from the job's id.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reactor_runtime.errors import SettingError

_FIRST_PORT, _PORTS = 20_000, 10_000
_RANGE = re.compile(r"([^\[,]+)(?:\[([^\]]+)\])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerPlace:
    """One node's place.

    Attributes:
        master: Name or address of the node of rank 0.
        port: Where it holds the store.
        run_id: The same on every node, and another for every job.
    """

    node_rank: int
    num_workers: int
    master: str
    port: int
    run_id: str


def place_from(scheduler: str, environment: Mapping[str, str], num_workers: int) -> SchedulerPlace:
    """Return this node's place.

    Args:
        scheduler: ``slurm``, ``kubernetes`` or ``pytorchjob``.
        environment: The variables.
        num_workers: What the job file says; Kubernetes does not tell.

    Raises:
        SettingError: The scheduler is unknown, a variable is missing, or the counts differ.
    """
    if scheduler not in _SCHEDULERS:
        raise SettingError("--from-env", scheduler, " or ".join(_SCHEDULERS))
    place = _SCHEDULERS[scheduler](environment, num_workers)
    if place.num_workers != num_workers:
        found = f"{place.num_workers} nodes given by {scheduler}"
        raise SettingError("num_workers", found, f"the job's {num_workers}")
    if not 0 <= place.node_rank < num_workers:
        found = f"node rank {place.node_rank} given by {scheduler}"
        raise SettingError("num_workers", found, f"a rank below the job's {num_workers}")
    return place


def port_of(run_id: str) -> int:
    """Return the port of a job: the same on every node, below the system's own range."""
    digest = hashlib.sha256(run_id.encode()).digest()
    return _FIRST_PORT + int.from_bytes(digest[:4], "big") % _PORTS


def first_host(node_list: str) -> str:
    """Return the first host of a Slurm node list such as ``gpu[03-05,9],login1``."""
    match = _RANGE.match(node_list.strip())
    if match is None:
        raise SettingError("SLURM_JOB_NODELIST", repr(node_list), "a list of nodes")
    prefix, ranges = match.groups()
    return prefix if ranges is None else prefix + ranges.split(",")[0].split("-")[0]


def _from_slurm(environment: Mapping[str, str], num_workers: int) -> SchedulerPlace:
    job = _text(environment, "SLURM_JOB_ID")
    attempt = environment.get("SLURM_RESTART_COUNT", "0")
    run_id = f"slurm-{job}-{environment.get('SLURM_STEP_ID', '0')}-{attempt}"
    return SchedulerPlace(
        node_rank=_number(environment, "SLURM_NODEID"),
        num_workers=_number(environment, "SLURM_JOB_NUM_NODES"),
        master=first_host(_text(environment, "SLURM_JOB_NODELIST")),
        port=port_of(run_id),
        run_id=run_id,
    )


def _from_kubernetes(environment: Mapping[str, str], num_workers: int) -> SchedulerPlace:
    job, domain = _text(environment, "JOB_NAME"), environment.get("JOB_SERVICE", "")
    run_id = f"kubernetes-{environment.get('JOB_UID', job)}"
    return SchedulerPlace(
        node_rank=_number(environment, "JOB_COMPLETION_INDEX"),
        num_workers=num_workers,
        master=f"{job}-0.{domain}" if domain else f"{job}-0",
        port=port_of(run_id),
        run_id=run_id,
    )


def _from_pytorchjob(environment: Mapping[str, str], num_workers: int) -> SchedulerPlace:
    run_id = f"pytorchjob-{_text(environment, 'MASTER_ADDR')}-{_text(environment, 'MASTER_PORT')}"
    return SchedulerPlace(
        node_rank=_number(environment, "RANK"),
        num_workers=_number(environment, "WORLD_SIZE"),
        master=_text(environment, "MASTER_ADDR"),
        port=_number(environment, "MASTER_PORT"),
        run_id=run_id,
    )


_SCHEDULERS: dict[str, Callable[[Mapping[str, str], int], SchedulerPlace]] = {
    "slurm": _from_slurm,
    "kubernetes": _from_kubernetes,
    "pytorchjob": _from_pytorchjob,
}


def _text(environment: Mapping[str, str], name: str) -> str:
    value = environment.get(name, "")
    if not value:
        raise SettingError(name, "nothing", "what the scheduler sets on every node")
    return value


def _number(environment: Mapping[str, str], name: str) -> int:
    value = _text(environment, name)
    if not value.isdecimal():
        raise SettingError(name, repr(value), "a whole number")
    return int(value)
