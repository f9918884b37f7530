"""plan_group: which node runs which ranks of a job. Pure."""

from dataclasses import dataclass

from reactor_runtime.launcher.contracts import DistributedJob


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan:
    """One node's part of a job.

    Attributes:
        job: What was asked for.
        node_rank: Position of the node, ``0 … num_workers - 1``.
        ranks: The global ranks it runs.
    """

    job: DistributedJob
    node_rank: int
    ranks: tuple[int, ...]

    @property
    def world_size(self) -> int:
        """Number of processes of the whole job."""
        return self.job.num_workers * self.job.procs_per_worker


def plan_group(job: DistributedJob) -> tuple[TaskPlan, ...]:
    """Return the task of every node, in the order of node ranks; node r has ranks [rP, (r+1)P)."""
    procs = job.procs_per_worker
    return tuple(
        TaskPlan(job=job, node_rank=node, ranks=tuple(range(node * procs, (node + 1) * procs)))
        for node in range(job.num_workers)
    )
