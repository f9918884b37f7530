"""What docs/launching.md shows runs as it stands, under a Slurm of two nodes on this machine."""

import os
import re
import socket
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
import yaml
from tests.e2e.serving import free_port
from tests.e2e.snippets import snippet, write_files
from tests.process.cli import environment
from tests.process.launcher.cluster import soon, wait_for

from reactor_runtime.launcher.contracts import load_job
from reactor_runtime.launcher.scheduler_env import place_from

PAGE = "docs/launching.md"
# srun starts the same command on every node, and says which node that is.
SRUN = """#!/bin/sh
SLURM_NODEID=0 "$@" & first=$!
SLURM_NODEID=1 "$@" || exit 1
wait $first
"""


@pytest.mark.torch
@pytest.mark.timeout(600)
def test_the_job_of_the_page_under_the_schedulers_script(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    write_files(PAGE, tmp_path)
    (tmp_path / "job.sh").write_text(snippet(PAGE, "sh", "#SBATCH"))
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text(SRUN)
    srun.chmod(0o755)
    slurm = {
        "SLURM_JOB_ID": str(os.getpid()),
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_JOB_NODELIST": "localhost",
        "PATH": f"{srun.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["sh", "job.sh"], cwd=tmp_path, capture_output=True, text=True, timeout=soon(180),
        env=environment(**slurm),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [(tmp_path / f"sum-{rank}.txt").read_text() for rank in range(2)] == ["30\n", "30\n"]


@pytest.mark.torch
@pytest.mark.timeout(600)
def test_jobs_are_looked_at_as_the_page_says(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    write_files(PAGE, tmp_path)
    port = free_port()
    env = environment(
        REACTOR_TOKEN_FILE="token",
        REACTOR_CONTROL=f"http://127.0.0.1:{port}",
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    )
    sh = partial(subprocess.Popen, cwd=tmp_path, env=env, shell=True, text=True)
    assert sh(snippet(PAGE, "sh", "import secrets")).wait(60) == 0
    shown = snippet(PAGE, "console", "reactor jobs show")
    lines = [line[2:] for line in shown.splitlines() if line.startswith("$ reactor")]
    said = []
    with ExitStack() as running:
        for line in lines[:3]:
            command = line.replace("control-plane", f"control-plane --port {port}")
            running.callback(end, sh(f"exec {command}", stderr=subprocess.DEVNULL))
            wait_for(lambda: answers(port), "the control plane answers")
        for line in lines[3:]:
            asked = sh(line, stdout=subprocess.PIPE)
            said.append(asked.communicate(timeout=soon(180))[0])
            assert asked.returncode == 0, line
    submitted, listed, _, whole, cancelled = said
    assert submitted == "sum-1\n"
    assert re.match(r"sum-1 +(queued|starting|running) +2x1  ", listed)
    for node, name in enumerate(["one", "two"]):
        assert f"  node {node} on {name} (127.0.0.1): succeeded\n" in whole
    assert cancelled == "sum-1 succeeded\n"
    outputs = tmp_path / "outputs" / "sum-1"
    assert [(outputs / f"node{r}" / f"sum-{r}.txt").read_text() for r in range(2)] == ["30\n"] * 2


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    process.wait(soon(30))


def test_the_indexed_job_tells_every_pod_its_place(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    job, _ = load_job(tmp_path / "job.yaml")
    service, pods = yaml.safe_load_all((tmp_path / "kubernetes.yaml").read_text())
    name, spec = pods["metadata"]["name"], pods["spec"]
    assert service["spec"]["selector"] == {"job-name": name}
    assert spec["completions"] == spec["parallelism"] == job.num_workers
    pod = spec["template"]["spec"]
    assert pod["subdomain"] == service["metadata"]["name"]
    (container,) = pod["containers"]
    *command, scheduler = container["command"]
    assert command == ["reactor", "launch", "job.yaml", "--from-env"]
    variables = {each["name"]: each.get("value", "a-uid") for each in container["env"]}
    for index in range(job.num_workers):
        place = place_from(
            scheduler, {**variables, "JOB_COMPLETION_INDEX": str(index)}, job.num_workers
        )
        assert place.node_rank == index
        assert place.master == f"{name}-0.{pod['subdomain']}"
        assert place.run_id == "kubernetes-a-uid"
