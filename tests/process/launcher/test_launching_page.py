"""What docs/launching.md shows runs as it stands, under a Slurm of two nodes on this machine."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.e2e.snippets import snippet, write_files
from tests.process.cli import environment
from tests.process.launcher.cluster import soon

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
