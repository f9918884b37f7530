"""allocate: the nodes for one job, all or none, and why not. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from reactor_runtime.launcher.agent_messages import NodeOffer
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.loopback import is_loopback

_NONE_SHARED = "and two processes cannot share one under nccl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """An agent and how many of its processes nobody has."""

    offer: NodeOffer
    free: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """What was decided.

    Attributes:
        nodes: The agent of every node rank; empty when the job must wait.
        reason: Why it must wait, or can never run.
        can_ever: Whether the agents there are could run it if they were all free.
        is_refused: Whether it can run on no such machine, so that waiting is no use.
    """

    nodes: tuple[NodeOffer, ...] = ()
    reason: str = ""
    can_ever: bool = True
    is_refused: bool = False


def allocate(job: DistributedJob, seats: Sequence[Seat]) -> Allocation:
    """Return a node for every task of *job*, or none and the reason."""
    fitting = [s for s in seats if _lacks(job, s.offer) is None]
    if len(fitting) < job.num_workers:
        return _without_enough(job, seats)
    if (missing := _without_devices(job, fitting)) is not None:
        return missing
    able = [s for s in fitting if lacks_devices(job, s.offer.agent_id, s.offer.devices) is None]
    group = _compatible([s.offer for s in able], job.num_workers)
    if group is None:
        return Allocation(reason=_split_networks(able), can_ever=False)
    free = [s.offer for s in able if s.free >= job.procs_per_worker]
    chosen = _compatible(_apart(free) if job.comm_backend == "nccl" else free, job.num_workers)
    if chosen is None:
        return Allocation(
            reason=f"waits for {job.num_workers} nodes with {job.procs_per_worker} free procs "
            f"each; {len(free)} have them now"
        )
    return Allocation(nodes=chosen)


def _lacks(job: DistributedJob, offer: NodeOffer) -> str | None:
    if offer.procs < job.procs_per_worker:
        return f"{offer.agent_id} offers {offer.procs} procs"
    for name, value in job.labels.items():
        if offer.labels.get(name) != value:
            return f"{offer.agent_id} has no label {name}={value}"
    return None


def _without_enough(job: DistributedJob, seats: Sequence[Seat]) -> Allocation:
    short = "; ".join(text for s in seats if (text := _lacks(job, s.offer)))
    reason = (
        f"needs {job.num_workers} nodes with {job.procs_per_worker} procs each; "
        f"{len(seats)} registered" + (f" ({short})" if short else "")
    )
    return Allocation(reason=reason, can_ever=False)


def lacks_devices(job: DistributedJob, node: str, devices: Sequence[str]) -> str | None:
    """Return why *node* cannot have a part of *job* for want of devices, ``None`` if it can."""
    if job.comm_backend != "nccl" or len(devices) >= job.procs_per_worker:
        return None
    if not devices:
        return f"node {node} has no CUDA device"
    return (
        f"node {node} has {len(devices)} CUDA devices for {job.procs_per_worker} "
        f"processes, {_NONE_SHARED}"
    )


def _without_devices(job: DistributedJob, fitting: Sequence[Seat]) -> Allocation | None:
    if job.comm_backend != "nccl":
        return None
    offers = [s.offer for s in fitting]
    lacking = [t for o in offers if (t := lacks_devices(job, o.agent_id, o.devices))]
    able = [o for o in offers if lacks_devices(job, o.agent_id, o.devices) is None]
    apart = _apart(able)
    lacking += [f"node {o.agent_id} has the devices of another, {_NONE_SHARED}"
                for o in able if o not in apart]  # fmt: skip
    if len(apart) >= job.num_workers:
        return None
    reason = f"comm_backend nccl: {'; '.join(lacking)}; use gloo or other nodes"
    return Allocation(reason=reason, can_ever=False, is_refused=True)


def _apart(offers: Sequence[NodeOffer]) -> list[NodeOffer]:
    """Return as many of *offers*, in their order, as have no device in common."""
    taken: set[str] = set()
    apart = []
    for offer in offers:
        if taken.isdisjoint(offer.devices):
            taken.update(offer.devices)
            apart.append(offer)
    return apart


def _compatible(offers: Sequence[NodeOffer], count: int) -> tuple[NodeOffer, ...] | None:
    """Return *count* offers that can reach each other: one host, or none of them loopback."""
    hosts = list(dict.fromkeys(offer.host_id for offer in offers))
    groups = [[o for o in offers if o.host_id == host] for host in hosts]
    groups.append([o for o in offers if not is_loopback(o.address)])
    for group in groups:
        for family in (":", "."):
            same = [o for o in group if family in o.address]
            if len(same) >= count:
                return tuple(same[:count])
    return None


def _split_networks(seats: Sequence[Seat]) -> str:
    loopback = [s.offer.agent_id for s in seats if is_loopback(s.offer.address)]
    if loopback:
        return (
            f"{', '.join(loopback)} advertise a loopback address, which other hosts cannot reach; "
            "start these agents with --interface or --advertise"
        )
    return "the agents advertise IPv4 and IPv6 addresses; one group needs one family"
