"""The commands as a person uses them: launch, submit, jobs, and one node under a scheduler."""

import contextlib
import os
import pty
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from tests.process.cli import command_line, environment, reactor
from tests.process.launcher.cluster import TOKEN, Cluster, bearing, soon, wait_for
from tests.process.launcher.commands import EXAMPLE, MARK, start, write_job

from reactor_runtime.scratch_folder import ScratchFolder

pytestmark = [
    pytest.mark.torch,
    pytest.mark.timeout(400),
    pytest.mark.usefixtures("no_command_left"),
]


def readme_block(first_line: str) -> str:
    """Return the README's code block that begins so, without that line."""
    readme = EXAMPLE.parents[2].joinpath("README.md").read_text()
    _, _, rest = readme.partition(f"\n{first_line}")
    block, end, _ = rest.partition("\n```\n")
    assert end, f"the README has no block that begins with {first_line!r}"
    return block


def test_launch_runs_the_example_of_the_readme(tmp_path: Path) -> None:
    run = start("launch", str(EXAMPLE), cwd=tmp_path)
    out, err = run.communicate(timeout=soon(120))
    assert run.returncode == 0, err
    shown = readme_block("$ reactor launch examples/launch/all_reduce.yaml\n").splitlines()
    said = iter(err.splitlines())
    assert [line for line in shown if line.startswith("[")] == sorted(out.splitlines())
    assert [line for line in shown if line[0] != "[" and line not in said] == []  # in this order
    text = readme_block("# examples/launch/all_reduce.yaml\n")
    assert yaml.safe_load(text).items() <= yaml.safe_load(EXAMPLE.read_text()).items()
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.txt")}
    folder = "outputs/all_reduce-1"
    assert found == {f"{folder}/node{rank // 2}/sum-{rank}.txt" for rank in range(4)}
    assert bearing(MARK) == {}


def test_launch_ends_with_the_jobs_failure(tmp_path: Path) -> None:
    run = start("launch", str(write_job(tmp_path, "act.py", "exit", "1", "7")), cwd=tmp_path)
    out, err = run.communicate(timeout=soon(120))
    assert run.returncode == 1
    assert "job job-1 failed: node 1, rank 1 ended with exit code 7" in err
    assert "torchrun" not in out + err  # which has said so on both nodes, in a hundred lines
    assert bearing(MARK) == {}


def test_launch_shows_torchruns_own_words_on_demand(tmp_path: Path) -> None:
    job = write_job(tmp_path, "act.py", "exit", "1", "7")
    run = start("launch", str(job), "--verbose", cwd=tmp_path)
    out, err = run.communicate(timeout=soon(120))
    assert run.returncode == 1, err
    assert "[job node1 torchrun] " in out
    assert "ChildFailedError" in out


def test_nodes_that_cannot_start_end_the_launch_with_the_reason(tmp_path: Path) -> None:
    absent = tmp_path / "absent" / "torch"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError('no torch here')\n")
    job = write_job(tmp_path, "act.py", "sleep")
    run = start("launch", str(job), cwd=tmp_path, PYTHONPATH=str(absent.parent))
    _, err = run.communicate(timeout=soon(60))
    assert run.returncode == 1
    assert err.splitlines()[-1].startswith("reactor: the node agent")
    assert (
        "could not be started: it ended with status 1 and said: torch: found no such package" in err
    )
    assert "(no torch here)" in err
    assert bearing(MARK) == {}


def without_cuda() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")


def test_nccl_without_cuda_is_refused_before_anything_starts(tmp_path: Path) -> None:
    without_cuda()
    job = write_job(tmp_path, "gloo.py", "sum", comm_backend="nccl")
    run = start("launch", str(job), cwd=tmp_path)
    _, err = run.communicate(timeout=soon(60))
    assert run.returncode == 1
    wanted = "comm_backend nccl: node agent0 has no CUDA device; node agent1 has no CUDA device"
    assert f"job job-1 failed: {wanted}; use gloo or other nodes" in err
    assert list(tmp_path.glob("summed-*")) == []


def test_nccl_without_cuda_is_refused_under_a_scheduler_too(tmp_path: Path) -> None:
    without_cuda()
    job = str(write_job(tmp_path, "gloo.py", "sum", comm_backend="nccl"))
    run = start("launch", job, "--from-env", "slurm", cwd=tmp_path, **SLURM[1])
    _, err = run.communicate(timeout=soon(60))
    assert run.returncode == 2
    assert "nccl, and node 1 has no CUDA device; wanted gloo, or other nodes" in err


def test_nccl_on_cuda_runs_one_process_per_device_and_refuses_more(tmp_path: Path) -> None:
    import torch

    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device: what runs under nccl is not run here")
    devices = torch.cuda.device_count()
    one = {"comm_backend": "nccl", "num_workers": 1}
    job = write_job(tmp_path, "gloo.py", "sum", **one)
    run = start("launch", str(job), cwd=tmp_path)
    out, err = run.communicate(timeout=soon(200))
    assert run.returncode == 0, err
    assert "rank 0 of 1: the sum is 0" in out
    job.write_text(job.read_text() + f"\nprocs_per_worker: {devices + 1}\n")
    run = start("launch", str(job), cwd=tmp_path)
    _, err = run.communicate(timeout=soon(200))
    assert run.returncode == 1
    assert f"node agent0 has {devices} CUDA devices for {devices + 1} processes" in err
    assert "two processes cannot share one under nccl" in err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_whatever_ends_launch_ends_everything(tmp_path: Path, number: int, status: int) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    job = str(write_job(tmp_path, "act.py", "sleep"))
    run = start("launch", job, cwd=tmp_path, TMPDIR=str(scratch))
    wait_for(lambda: len(list(tmp_path.glob("here-*"))) == 2, "both ranks run")
    run.send_signal(number)
    ended_at = time.monotonic()
    wait_for(lambda: not bearing(MARK), "everything is gone")
    assert time.monotonic() - ended_at < soon(5 if number == signal.SIGKILL else 15)
    run.communicate(timeout=soon(30))
    assert run.returncode == status
    assert len(list(scratch.glob("reactor-launch-*"))) == (number == signal.SIGKILL)
    ScratchFolder("launch", scratch).sweep()  # as the next one does first
    assert list(scratch.glob("reactor-*")) == []


PLANNED = """\
node {node} of 2: ranks {ranks} of 4
  GLOO_SOCKET_IFNAME=INTERFACE
  GPULAYER_COMM_BACKEND=gloo
  MASTER_ADDR=ADDRESS_OF_NODE_0
  MASTER_PORT=PORT
  NCCL_SOCKET_IFNAME=INTERFACE
  OMP_NUM_THREADS=1
  PYTHONHASHSEED=0
  PYTHONUNBUFFERED=1
  REACTOR_ATTEMPT_ID=ATTEMPT
  REACTOR_COMM_BACKEND=gloo
  REACTOR_COMM_TIMEOUT_S=30
  REACTOR_JOB_NAME=all_reduce
  REACTOR_NODE_RANK={node}
  TORCHELASTIC_USE_AGENT_STORE=True
  TORCH_ELASTIC_SHUTDOWN_TIMEOUT=2
  python -m reactor_runtime.launcher.task_keeper --grace 3 --silence 300 --timeout 120 -- \
python -m torch.distributed.run --nnodes 2 --nproc-per-node 2 --node-rank {node} \
--rdzv-backend static --rdzv-id ATTEMPT --rdzv-conf timeout=60 \
--master-addr ADDRESS_OF_NODE_0 --master-port PORT --local-addr ADDRESS --max-restarts 0 \
--monitor-interval 0.1 --redirects 3 --log-dir LOGS --role all_reduce \
-m -- reactor_runtime.launcher.rank_entry all_reduce.py

"""


def test_a_dry_run_shows_every_node_and_starts_nothing(tmp_path: Path) -> None:
    ran = reactor("launch", str(EXAMPLE), "--dry-run", cwd=tmp_path)
    assert ran.status == 0
    nodes = [(0, "0, 1"), (1, "2, 3")]
    assert ran.out == "".join(PLANNED.format(node=node, ranks=ranks) for node, ranks in nodes)
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_progress_is_one_line_and_log_lines_are_their_own(tmp_path: Path) -> None:
    job = write_job(tmp_path, "act.py", "flood", "-1", "3")
    screen, terminal = pty.openpty()
    key, value = MARK.split("=")
    run = subprocess.Popen(
        command_line("launch", str(job)),
        stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal, cwd=tmp_path,
        env=environment(TERM="xterm", COLUMNS="120", **{key: value}),
    )  # fmt: skip
    os.close(terminal)
    shown = read_to_the_end(screen)
    assert run.wait(60) == 0, shown
    assert "\x1b[2K" in shown
    assert "job-1 running: node0 running, node1 running" in shown
    kept = re.split(r"\r\n|\x1b\[2K", shown)  # what stands on a line once it is left
    for rank in range(2):
        said = [line for line in kept if f"of rank {rank}" in line]
        assert said == [f"[job node{rank} rank{rank}] line {n} of rank {rank}" for n in range(3)]
    assert "job job-1 succeeded" in kept


def read_to_the_end(screen: int) -> str:
    parts = []
    with os.fdopen(screen, "rb", buffering=0) as file, contextlib.suppress(OSError):
        while part := file.read(65536):
            parts.append(part)
    return b"".join(parts).decode()


def test_submit_and_jobs(shared: Cluster, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(TOKEN)
    where = ("--control", shared.url, "--token-file", str(token))
    job = write_job(tmp_path, "act.py", "flood", "-1", "3")
    ran = reactor("submit", str(job), "--follow", *where)
    assert ran.status == 0, ran.err
    job_id, *lines = ran.out.splitlines()
    assert "[job node1 rank1] line 2 of rank 1" in lines
    assert f"{job_id} " in reactor("jobs", "list", *where).out
    shown = reactor("jobs", "show", job_id, *where).out
    assert f"job {job_id} succeeded" in shown
    assert "node 1 on node1 (127.0.0.1): succeeded" in shown
    logs = reactor("jobs", "logs", job_id, "--node", "1", "--follow", *where).out
    assert "node1 rank1] line 0 of rank 1" in logs
    assert "node0" not in logs
    assert reactor("jobs", "cancel", job_id, *where).out == f"{job_id} succeeded\n"
    nobody = reactor("jobs", "show", "job-999", *where)
    assert (nobody.status, "there is no job job-999" in nobody.err) == (1, True)
    stranger = reactor("jobs", "list", "--control", shared.url)
    assert "a valid token is required" in stranger.err


def test_a_control_plane_off_loopback_wants_a_token() -> None:
    ran = reactor("control-plane", "--host", "0.0.0.0", "--port", "0")
    assert ran.status == 2
    assert "0.0.0.0 without a token; wanted --token-file FILE" in ran.err


SLURM = [
    {"SLURM_JOB_ID": str(os.getpid()), "SLURM_NODEID": str(node), "SLURM_JOB_NUM_NODES": "2",
     "SLURM_JOB_NODELIST": "localhost"}
    for node in range(2)
]  # fmt: skip
KUBERNETES = [
    {"JOB_COMPLETION_INDEX": str(node), "JOB_NAME": "localhost", "JOB_UID": f"u{os.getpid()}"}
    for node in range(2)
]


def pytorchjob() -> list[dict[str, str]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    return [
        {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "WORLD_SIZE": "2", "RANK": str(node)}
        for node in range(2)
    ]


def where_the_service_is_known(folder: Path) -> list[str]:
    """Return a prefix that runs a command where the name of the job's first pod leads here."""
    hosts = folder / "hosts"
    hosts.write_text("127.0.0.1 localhost localhost-0.workers\n")
    prefix = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"']
    tried = subprocess.run([*prefix, hosts, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"needs a hosts file of its own: {tried.stderr.strip()}")
    return [*prefix, str(hosts)]


def start_nodes(
    scheduler: str, folder: Path, script: str, *args: str
) -> list["subprocess.Popen[str]"]:
    """Start the launcher of both nodes as *scheduler* would, each with its variables."""
    job = str(write_job(folder, script, *args))
    of_pods = [{**variables, "JOB_SERVICE": "workers"} for variables in KUBERNETES]
    nodes = {"slurm": SLURM, "kubernetes": of_pods, "pytorchjob": pytorchjob()}[scheduler]
    prefix = where_the_service_is_known(folder) if scheduler == "kubernetes" else []
    flags = ("launch", job, "--from-env", scheduler)
    return [start(*flags, cwd=folder, prefix=prefix, **variables) for variables in nodes]


SCHEDULERS = ["slurm", "kubernetes", "pytorchjob"]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_two_nodes_under_a_scheduler(tmp_path: Path, scheduler: str) -> None:
    runs = start_nodes(scheduler, tmp_path, "gloo.py", "sum")
    said = [run.communicate(timeout=soon(120)) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    for node, (out, _) in enumerate(said):
        assert out == f"[job node{node} rank{node}] rank {node} of 2: the sum is 1\n"
    assert bearing(MARK) == {}


@pytest.mark.parametrize(
    ("scheduler", "act"),
    [("slurm", ("kill", "0")), *((scheduler, ("exit", "1", "7")) for scheduler in SCHEDULERS)],
)
def test_a_failure_reaches_the_other_node_through_the_store(
    tmp_path: Path, scheduler: str, act: tuple[str, ...]
) -> None:
    runs = start_nodes(scheduler, tmp_path, "act.py", *act)
    said = [run.communicate(timeout=soon(120))[1] for run in runs]
    assert [run.returncode for run in runs] == [1, 1]
    wanted = "rank 1 ended with exit code 7" if act[0] == "exit" else "rank 0 ended with signal"
    assert all(wanted in text.partition("then:")[0] for text in said), said
    assert bearing(MARK) == {}


@pytest.mark.parametrize("node", [0, 1])
def test_a_killed_launcher_of_a_node_is_noticed_by_the_other(tmp_path: Path, node: int) -> None:
    job = str(write_job(tmp_path, "act.py", "sleep"))
    runs = [start("launch", job, "--from-env", "slurm", cwd=tmp_path, **env) for env in SLURM]
    wait_for(lambda: len(list(tmp_path.glob("here-*"))) == 2, "both ranks run")
    runs[node].kill()
    killed_at = time.monotonic()
    _, err = runs[1 - node].communicate(timeout=soon(90))
    runs[node].communicate(timeout=soon(10))
    assert time.monotonic() - killed_at < soon(30)
    assert runs[1 - node].returncode == 1
    assert "lost" in err
    wait_for(lambda: not bearing(MARK), "nothing is left")


def test_a_node_that_never_comes_ends_the_wait(tmp_path: Path) -> None:
    job = str(write_job(tmp_path, "act.py", "sleep", rendezvous="{join_timeout_s: 4}"))
    run = start("launch", job, "--from-env", "slurm", cwd=tmp_path, **SLURM[0])
    _, err = run.communicate(timeout=soon(60))
    assert run.returncode == 1
    assert "node 1 did not join within 4 s" in err
    assert "a loopback address that only its own host can reach" in err
    assert bearing(MARK) == {}


def test_a_master_that_accepts_and_says_nothing(tmp_path: Path) -> None:
    job = str(write_job(tmp_path, "act.py", "sleep", rendezvous="{join_timeout_s: 3}"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        variables = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "WORLD_SIZE": "2"}
        run = start("launch", job, "--from-env", "pytorchjob", cwd=tmp_path, RANK="1", **variables)
        _, err = run.communicate(timeout=soon(100))
    assert run.returncode == 1
    assert f"node 1 cannot reach the store of node 0 at 127.0.0.1:{port}: no answer" in err
    assert bearing(MARK) == {}


def test_a_master_port_that_is_taken(tmp_path: Path) -> None:
    job = str(write_job(tmp_path, "act.py", "sleep"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        variables = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "WORLD_SIZE": "2"}
        run = start("launch", job, "--from-env", "pytorchjob", cwd=tmp_path, RANK="0", **variables)
        _, err = run.communicate(timeout=soon(100))
    assert run.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}: Address already in use" in err


def test_a_master_that_nobody_knows(tmp_path: Path) -> None:
    job = str(write_job(tmp_path, "act.py", "sleep", rendezvous="{join_timeout_s: 3}"))
    variables = {**KUBERNETES[1], "JOB_SERVICE": "nowhere.invalid"}
    run = start("launch", job, "--from-env", "kubernetes", cwd=tmp_path, **variables)
    _, err = run.communicate(timeout=soon(60))
    assert run.returncode == 2
    assert "the node of rank 0 has an unknown name" in err
