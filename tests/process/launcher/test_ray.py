"""Jobs on a Ray cluster of two nodes on this machine; run by `make test-ray`."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.process.launcher.cluster import bearing, soon, wait_for
from tests.process.launcher.commands import EXAMPLE, start, write_job

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]
ray = pytest.importorskip("ray", reason="make test-ray installs it")
AGENT = "reactor_runtime.launcher.agent_program"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Two nodes of two CPUs; nothing of ours may be left on them at the end."""
    from ray.cluster_utils import Cluster

    cluster: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
    )
    try:
        cluster.add_node(num_cpus=2)
        cluster.wait_for_nodes()
        yield cluster.address
    finally:
        cluster.shutdown()


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    wait_for(lambda: not agents(), "no agent is left", 20)


def agents() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if AGENT.encode() in line and b"reactor-agent-" in b"".join(line):
                found.append(int(entry.name))
    return found


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def launch(job: Path, address: str, *more: str, cwd: Path) -> Any:
    return start("launch", str(job), "--backend", "ray", "--ray-address", address, *more, cwd=cwd)


def test_the_example_runs_with_an_agent_on_each_node(tmp_path: Path, address: str) -> None:
    run = launch(EXAMPLE, address, cwd=tmp_path)
    out, err = run.communicate(timeout=soon(200))
    assert run.returncode == 0, err
    assert sorted(out.splitlines()) == [
        f"[all_reduce node{rank // 2} rank{rank}] rank {rank} of 4: the sum is 6"
        for rank in range(4)
    ]
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*.txt")}
    folder = "outputs/all_reduce-1"
    assert found == {f"{folder}/node{rank // 2}/sum-{rank}.txt" for rank in range(4)}


def test_a_failing_rank_fails_the_job(tmp_path: Path, address: str) -> None:
    run = launch(write_job(tmp_path, "act.py", "exit", "1", "7"), address, cwd=tmp_path)
    _, err = run.communicate(timeout=soon(200))
    assert run.returncode == 1
    assert "job job-1 failed: node 1, rank 1 ended with exit code 7" in err


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [({"num_workers": 3}, "3 nodes with 1 CPU each"),
     ({"num_workers": 2, "procs_per_worker": 3}, "2 nodes with 3 CPU each"),
     ({"num_workers": 1, "comm_backend": "nccl"}, "1 nodes with 1 CPU and 1 GPU each")],
)  # fmt: skip
def test_nodes_that_the_cluster_does_not_have_end_the_wait(
    tmp_path: Path, address: str, shape: dict[str, object], wanted: str
) -> None:
    job = write_job(tmp_path, "act.py", "sleep", **shape)
    run = launch(job, address, "--ray-timeout", "3", cwd=tmp_path)
    _, err = run.communicate(timeout=soon(100))
    assert run.returncode == 1
    assert f"the cluster did not give {wanted} within 3 s; its nodes, used and free: " in err
    assert err.count(" has 2 CPU") == 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_whatever_ends_launch_ends_everything(tmp_path: Path, address: str, number: int) -> None:
    run = launch(write_job(tmp_path, "act.py", "sleep"), address, cwd=tmp_path)
    wait_for(lambda: len(list(tmp_path.glob("here-*"))) == 2, "both ranks run", 120)
    run.send_signal(number)
    run.communicate(timeout=soon(60))
    wait_for(lambda: not bearing("REACTOR_JOB_NAME=job"), "the ranks are gone", 30)
    assert run.returncode == (-9 if number == signal.SIGKILL else 130)


def test_a_killed_actor_takes_its_agent_along_and_fails_the_job(
    tmp_path: Path, address: str
) -> None:
    run = launch(write_job(tmp_path, "act.py", "sleep"), address, cwd=tmp_path)
    wait_for(lambda: len(list(tmp_path.glob("here-*"))) == 2, "both ranks run", 120)
    os.kill(parent_of(agents()[0]), signal.SIGKILL)
    _, err = run.communicate(timeout=soon(100))
    assert run.returncode == 1
    assert "lost: no heartbeat for 5 s" in err


@pytest.mark.parametrize(
    ("where", "words"),
    [("127.0.0.1:1", "wanted a running cluster"), ("ray://head:10001", "wanted HOST:PORT")],
)
def test_a_cluster_that_is_not_there_is_a_mistake(tmp_path: Path, where: str, words: str) -> None:
    run = launch(EXAMPLE, where, cwd=tmp_path)
    _, err = run.communicate(timeout=soon(60))
    assert run.returncode == 2
    assert words in err
