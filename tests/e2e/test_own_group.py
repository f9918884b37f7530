"""A model that drives its own worker group, over WebRTC; ``runtime.workers`` says how wide."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.serving import ROOT, Served, own_address, serving
from tests.process.distributed.traces import is_alive
from tests.waiting import wait_for

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
MANIFEST = """
runtime:
  import: drives_its_own_group:DrivesItsOwnGroup
  workers: 2
"""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "reactor.yaml").write_text(MANIFEST)
    shutil.copy(ROOT / "tests" / "models" / "drives_its_own_group.py", tmp_path)
    with serving(tmp_path) as served:
        yield served


def ranks(served: Served) -> list[int]:
    found = re.search(r"^ranks: (.*)$", served.log(), re.MULTILINE)
    assert found, served.log()
    return [int(pid) for pid in found[1].split()]


async def test_two_ranks_paint_what_a_client_sees(served: Served) -> None:
    pids = ranks(served)
    assert len(pids) == 2
    for _ in range(2):
        async with viewing(served.url) as viewer:
            await viewer.frames(3)
            await viewer.reactor.send_command("set_prompt", {"prompt": "blue"})
            await viewer.see("blue")
            assert viewer.errors == []
        served.wait_for_state("ready", "orphaned")
        if served.state() == "orphaned":
            break
    assert served.stop() == 0
    wait_for(lambda: not any(map(is_alive, pids)))


async def test_a_dead_rank_ends_the_session_and_the_client_is_told(served: Served) -> None:
    pids = ranks(served)
    async with viewing(served.url) as viewer:
        await viewer.frames(3)
        os.kill(pids[1], signal.SIGKILL)
        await viewer.until(lambda: any("WorkerCrashed" in text for text in viewer.errors), 5)
    assert not any(map(is_alive, pids))
    assert "rank 1 died" in served.log()
