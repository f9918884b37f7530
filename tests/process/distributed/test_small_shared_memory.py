"""A container's 64 MiB of /dev/shm: frames do not live there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CHECK = """
import os

stat = os.statvfs("/dev/shm")
assert stat.f_frsize * stat.f_blocks == 64 << 20

def check():
    free = os.statvfs("/dev/shm").f_bavail * stat.f_frsize
    assert free == 64 << 20, free
"""
GROUP = """
from reactor_runtime.distributed.worker_group import WorkerGroup
from tests.process.distributed.workers import Painter

shape = (15, 1080, 1920, 3)  # 93 MB a slot
with WorkerGroup(Painter, 2, frame_shape=shape, init_process_group=False) as group:
    chunk = group.generate(3, "in_place")
    print(chunk.shape if (chunk == 3).all() else "wrong pixels")
    check()
"""
HOST = """
import asyncio
from tests.contract.model_host.conftest import pool_of
from tests.contract.model_host.recording_outlet import RecordingOutlet
from tests.contract.model_host.stage import Stage

async def main():
    outlet = RecordingOutlet()
    outlet.room = 24
    async with pool_of(2)("fills_a_screen", outlet) as host:
        stage = Stage(host, outlet)
        stage.open()
        print(await stage.shown(3))
        check()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("program", "printed"), [(GROUP, "(15, 1080, 1920, 3)\n"), (HOST, "[1, 2, 3]\n")]
)
def test_large_frames_need_nothing_of_it(program: str, printed: str) -> None:
    mount = "mount -t tmpfs -o size=64m tmpfs /dev/shm"
    probe = subprocess.run(["unshare", "--mount", "sh", "-c", mount], capture_output=True)
    if probe.returncode != 0:
        pytest.skip(f"no mount namespace: {probe.stderr.decode(errors='replace').strip()}")
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f'{mount} && exec {sys.executable} -c "$PROGRAM"'],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PROGRAM": CHECK + program},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
