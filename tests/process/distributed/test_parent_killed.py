"""When the parent is killed, alone or with its whole process group, everything ends with it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.process.distributed.traces import group_processes, shared_blocks
from tests.waiting import wait_for

ROOT = Path(__file__).parents[3]
WITHIN_S = 2.0

PARENT = """
import sys, threading, time
from reactor_runtime.distributed.worker_group import WorkerGroup
from tests.process.distributed.lingering import Lingers

phase, world_size = sys.argv[1], int(sys.argv[2])
group = WorkerGroup(Lingers, world_size, setup_kwargs={"phase": phase}, frame_shape=(2, 4, 4, 3),
                    init_process_group=False)
group.start()
group.start_session("x")
group.generate(0)
group.end_session()
if phase == "exit":
    group.shutdown()
print("idle", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("whole_group", [False, True], ids=["alone", "process group"])
@pytest.mark.parametrize(
    "phase",
    ["import", "setup", "warmup", "start_session", "generate_chunk", "end_session", "exit", "idle"],
)
def test_no_rank_outlives_its_parent(tmp_path: Path, phase: str, whole_group: bool) -> None:
    blocks = shared_blocks()
    mark = f"WHOSE={tmp_path}\0".encode()
    told = {"WHOSE": str(tmp_path), "LINGER": phase, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, phase, "2"],
        env=os.environ | told,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    reached = tmp_path / f"{phase}1"
    try:
        if phase == "idle":
            assert parent.stdout is not None
            assert parent.stdout.readline() == b"idle\n"
        else:
            wait_for(reached.exists, 20)
        assert len(group_processes(mark)) >= 3  # two ranks at least, and what they started
        killed_at = time.monotonic()
        if whole_group:
            os.killpg(parent.pid, signal.SIGKILL)
        else:
            parent.kill()
        wait_for(lambda: group_processes(mark) == set(), WITHIN_S)
        assert time.monotonic() - killed_at < WITHIN_S
    finally:
        parent.kill()
        parent.wait()
        if parent.stdout:
            parent.stdout.close()
    assert shared_blocks() <= blocks
