"""torchrun_argv and task_environment: the command line and environment of one node. Pure.

torchrun never makes the store: the agent of node 0 has it open already, and
``TORCHELASTIC_USE_AGENT_STORE`` with ``MASTER_PORT`` makes torchrun's own store a client of it, so
that no port is ever let go between choosing and using it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from reactor_runtime.launcher.contracts import is_scrubbed
from reactor_runtime.launcher.plan import TaskPlan

RANK_ENTRY = "reactor_runtime.launcher.rank_entry"
TASK_KEEPER = "reactor_runtime.launcher.task_keeper"
GRACE_S = 2  # what ranks get between SIGTERM and SIGKILL
KEEPER_GRACE_S = 3  # what torchrun gets to do that


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlace:
    """What is known of a node only once its agent has the task.

    Attributes:
        attempt_id: Id of this start of the job; never used twice.
        python: The interpreter.
        address: Address that other nodes reach this one at.
        interface: Network interface of that address.
        log_dir: Folder for what ranks print.
        cores: Cores of the node, shared by its ranks.
        resume_from: The checkpoint to go on from.
    """

    attempt_id: str = "ATTEMPT"
    python: str = "python"
    address: str = "ADDRESS"
    interface: str = "INTERFACE"
    log_dir: str = "LOGS"
    cores: int = 1
    resume_from: str | None = None


def torchrun_argv(task: TaskPlan, endpoint: str, place: NodePlace | None = None) -> tuple[str, ...]:
    """Return torchrun's command line for *task*, meeting its peers at *endpoint* (host:port)."""
    place = place or NodePlace()
    job = task.job
    host, _, port = endpoint.rpartition(":")
    return (
        place.python, "-m", "torch.distributed.run",
        "--nnodes", str(job.num_workers),
        "--nproc-per-node", str(job.procs_per_worker),
        "--node-rank", str(task.node_rank),
        "--rdzv-backend", "static",
        "--rdzv-id", place.attempt_id,
        "--rdzv-conf", f"timeout={max(1, round(job.rendezvous.join_timeout_s))}",
        "--master-addr", host,
        "--master-port", port,
        "--local-addr", place.address,
        "--max-restarts", "0",
        "--monitor-interval", "0.1",
        "--redirects", "3",
        "--log-dir", place.log_dir,
        "--role", job.name,
        "-m",
        "--",  # or an argument of the script would be read as a flag of torchrun's, cut short
        RANK_ENTRY,
        job.entrypoint,
        *job.args,
    )  # fmt: skip


def keeper_argv(
    argv: tuple[str, ...], python: str, silence_s: float, timeout_s: float = 0
) -> tuple[str, ...]:
    """Return *argv* under the keeper that takes everything along when its agent dies."""
    limits = ("--grace", f"{KEEPER_GRACE_S:g}", "--silence", f"{silence_s:g}")
    return (python, "-m", TASK_KEEPER, *limits, "--timeout", f"{timeout_s:g}", "--", *argv)


def task_environment(
    task: TaskPlan, endpoint: str, place: NodePlace | None = None
) -> dict[str, str]:
    """Return what the launcher adds to the scrubbed environment of a node."""
    place = place or NodePlace()
    job = task.job
    host, _, port = endpoint.rpartition(":")
    resume = {"REACTOR_RESUME_FROM": place.resume_from} if place.resume_from else {}
    return {
        "OMP_NUM_THREADS": str(max(1, place.cores // job.procs_per_worker)),
        "PYTHONHASHSEED": "0",  # sets and dicts of text are in one order on all ranks
        **job.env,
        **resume,
        "GLOO_SOCKET_IFNAME": place.interface,
        "NCCL_SOCKET_IFNAME": place.interface,
        "GPULAYER_COMM_BACKEND": job.comm_backend,
        "REACTOR_COMM_BACKEND": job.comm_backend,
        "REACTOR_COMM_TIMEOUT_S": f"{job.comm_timeout_s:g}",
        "REACTOR_ATTEMPT_ID": place.attempt_id,
        "REACTOR_JOB_NAME": job.name,
        "REACTOR_NODE_RANK": str(task.node_rank),
        "MASTER_ADDR": host,
        "MASTER_PORT": port,
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": str(GRACE_S),
        "PYTHONUNBUFFERED": "1",
    }


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return *environment* without what an earlier torchrun or a shell has left in it."""
    stale = ("REACTOR_RESUME_FROM",)
    return {k: v for k, v in environment.items() if not is_scrubbed(k) and k not in stale}
