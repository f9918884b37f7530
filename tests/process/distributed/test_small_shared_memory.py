"""A container's 64 MiB of /dev/shm (B24): frames do not live there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import os
from reactor_runtime.distributed.worker_group import WorkerGroup
from tests.process.distributed.workers import Painter

stat = os.statvfs("/dev/shm")
assert stat.f_frsize * stat.f_blocks == 64 << 20
shape = (15, 1080, 1920, 3)  # 93 MB a slot
with WorkerGroup(Painter, 2, frame_shape=shape, init_process_group=False) as group:
    chunk = group.generate(3, ("leader", 4))
    print(chunk.shape if (chunk == 3).all() else "wrong pixels")
    free = os.statvfs("/dev/shm").f_bavail * stat.f_frsize
    assert free == 64 << 20, free
"""


def test_large_frames_need_nothing_of_it() -> None:
    program = PROGRAM.replace('("leader", 4)', '"in_place"')
    mount = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
    script = f"{mount} && exec {sys.executable} -c '{program}'"
    probe = subprocess.run(["unshare", "--mount", "sh", "-c", mount], capture_output=True)
    if probe.returncode != 0:
        pytest.skip(f"no mount namespace: {probe.stderr.decode(errors='replace').strip()}")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "(15, 1080, 1920, 3)\n", done.stderr
    assert done.returncode == 0
