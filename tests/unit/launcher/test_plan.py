"""Whole plans, as literals: nothing is started to know what would be."""

from reactor_runtime.launcher.contracts import DistributedJob, Rendezvous
from reactor_runtime.launcher.plan import plan_group
from reactor_runtime.launcher.torchrun import (
    NodePlace,
    keeper_argv,
    scrubbed,
    task_environment,
    torchrun_argv,
)

JOB = DistributedJob(
    name="train",
    num_workers=2,
    procs_per_worker=4,
    entrypoint="train.py",
    args=("--steps", "10"),
    env={"A": "b"},
    rendezvous=Rendezvous(join_timeout_s=90),
    comm_timeout_s=30,
    timeout_s=3600,
)
PLACE = NodePlace(
    attempt_id="train-1.1.ab",
    python="/usr/bin/python3",
    address="10.0.0.2",
    interface="eth1",
    log_dir="/w/logs",
    cores=16,
)


def test_ranks_of_every_node() -> None:
    plans = plan_group(JOB.model_copy(update={"num_workers": 3}))
    assert [(t.node_rank, t.ranks, t.world_size) for t in plans] == [
        (0, (0, 1, 2, 3), 12),
        (1, (4, 5, 6, 7), 12),
        (2, (8, 9, 10, 11), 12),
    ]


def test_the_command_line_of_a_node() -> None:
    assert torchrun_argv(plan_group(JOB)[1], "10.0.0.1:29500", PLACE) == (
        "/usr/bin/python3", "-m", "torch.distributed.run",
        "--nnodes", "2",
        "--nproc-per-node", "4",
        "--node-rank", "1",
        "--rdzv-backend", "static",
        "--rdzv-id", "train-1.1.ab",
        "--rdzv-conf", "timeout=90",
        "--master-addr", "10.0.0.1",
        "--master-port", "29500",
        "--local-addr", "10.0.0.2",
        "--max-restarts", "0",
        "--monitor-interval", "0.1",
        "--redirects", "3",
        "--log-dir", "/w/logs",
        "--role", "train",
        "-m", "--", "reactor_runtime.launcher.rank_entry",
        "train.py", "--steps", "10",
    )  # fmt: skip


def test_the_keeper_around_it() -> None:
    assert keeper_argv(("x", "--", "y"), "python", 300, 60) == (
        "python", "-m", "reactor_runtime.launcher.task_keeper",
        "--grace", "3", "--silence", "300", "--timeout", "60", "--", "x", "--", "y",
    )  # fmt: skip


def test_the_environment_of_a_node() -> None:
    assert task_environment(plan_group(JOB)[1], "10.0.0.1:29500", PLACE) == {
        "A": "b",
        "GLOO_SOCKET_IFNAME": "eth1",
        "GPULAYER_COMM_BACKEND": "gloo",
        "MASTER_ADDR": "10.0.0.1",
        "MASTER_PORT": "29500",
        "NCCL_SOCKET_IFNAME": "eth1",
        "OMP_NUM_THREADS": "4",
        "PYTHONHASHSEED": "0",
        "PYTHONUNBUFFERED": "1",
        "REACTOR_ATTEMPT_ID": "train-1.1.ab",
        "REACTOR_COMM_BACKEND": "gloo",
        "REACTOR_COMM_TIMEOUT_S": "30",
        "REACTOR_JOB_NAME": "train",
        "REACTOR_NODE_RANK": "1",
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "2",
    }


def test_a_job_may_set_its_own_threads_but_not_what_the_launcher_sets() -> None:
    job = JOB.model_copy(update={"env": {"OMP_NUM_THREADS": "2", "GLOO_SOCKET_IFNAME": "lo"}})
    environment = task_environment(plan_group(job)[0], "10.0.0.1:1", PLACE)
    assert environment["OMP_NUM_THREADS"] == "2"
    assert environment["GLOO_SOCKET_IFNAME"] == "eth1"


def test_a_checkpoint_to_go_on_from() -> None:
    place = NodePlace(resume_from="/c/step-7")
    environment = task_environment(plan_group(JOB)[0], "10.0.0.1:1", place)
    assert environment["REACTOR_RESUME_FROM"] == "/c/step-7"


def test_an_ipv6_endpoint() -> None:
    argv = torchrun_argv(plan_group(JOB)[0], "[fd00::1]:29500", PLACE)
    assert argv[argv.index("--master-addr") + 1] == "[fd00::1]"


def test_what_an_earlier_torchrun_left_is_scrubbed() -> None:
    stale = {
        "MASTER_ADDR": "x", "MASTER_PORT": "1", "RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "0",
        "PET_NNODES": "4", "TORCHELASTIC_RUN_ID": "r", "GROUP_RANK": "1", "ROLE_RANK": "2",
        "REACTOR_RESUME_FROM": "/old",
    }  # fmt: skip
    assert scrubbed({**stale, "PATH": "/bin", "CUDA_VISIBLE_DEVICES": "1"}) == {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "1",
    }
