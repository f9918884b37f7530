"""Results of steps: what is kept, what is left out, and for how long."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.recording.material import picture

from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.media.timeline import QueuedChunk
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.recording_settings import RecordingSettings
from reactor_runtime.recording.step_film import FinishedStep
from reactor_runtime.recording.step_queue import StepQueue
from reactor_runtime.recording.step_results import StepResults
from reactor_runtime.recording.step_shelf import StepShelf
from reactor_runtime.scratch_folder import ScratchFolder
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.testing.fake_clock import FakeClock


def report(number: int = 0, **given: Any) -> StepReport:
    facts = {"session_id": "s", "step_s": 0.1, "apply_s": 0.0, "wait_s": 0.0}
    return StepReport(**{**facts, "number": number, **given})


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def shelf(tmp_path: Path, clock: FakeClock) -> Iterator[StepShelf]:
    folder = ScratchFolder("steps", tmp_path)
    folder.open()
    shelf = StepShelf(folder, max_bytes=64 << 10, keep_s=60, clock=clock)
    yield shelf
    shelf.close()
    assert list(tmp_path.iterdir()) == []


def names_under(folder: Path) -> list[str]:
    return [each.name for each in folder.glob("*/s/*")]


class Kept:
    """Starts the thread and notes what became of each step."""

    def __init__(self, shelf: StepShelf, **settings: Any) -> None:
        wanted = RecordingSettings(video_track="main_video", audio_track="tone", **settings)
        self.results = StepResults(shelf, wanted, Metrics())
        self.told: list[tuple[int, bool]] = []
        self._news = asyncio.Event()

    async def __aenter__(self) -> "Kept":
        self.results.start(asyncio.get_running_loop(), self._note)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.results.stop()
        assert not any(thread.name == "reactor-steps" for thread in threading.enumerate())

    def _note(self, done: StepReport, is_saved: bool) -> None:
        self.told.append((done.number, is_saved))
        self._news.set()

    def show(self, frames: int = 1) -> None:
        pictures = [picture(100) for _ in range(frames)]
        queued = QueuedChunk({"main_video": pictures}, {}, duration=frames / 24)
        self.results.converted(queued, {"main_video": pictures}, {})

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.told) < count:
                self._news.clear()
                await self._news.wait()


async def test_a_step_that_came_to_nothing_has_no_folder(shelf: StepShelf) -> None:
    async with Kept(shelf) as kept:
        kept.results.step_done(report(0, idle=True))
        kept.show()
        kept.results.step_done(report(1, refused=True))
        kept.results.step_done(report(1, files={"a": b"1"}))
        kept.results.step_done(report(2, error="odd"))
        kept.show()
        kept.results.step_done(report(3))
        await kept.until(3)
    found = shelf.find("s")
    assert found is not None
    assert {number: set(files) for number, files in found[1].items()} == {
        1: {"a", "result.json"},
        2: {"result.json"},
        3: {"output.mp4", "result.json"},
    }


@pytest.mark.parametrize("name", [300 * "x", "half a \ud800 character"])
async def test_a_name_that_no_file_can_have_costs_its_step_alone(
    shelf: StepShelf, name: str, tmp_path: Path
) -> None:
    async with Kept(shelf) as kept:
        kept.results.step_done(report(0, files={"good": b"1", name: b"1"}))
        kept.results.step_done(report(1, files={"good": b"1"}))
        await kept.until(2)
        assert kept.told == [(0, False), (1, True)]
    assert names_under(tmp_path) == ["000001"]


async def test_a_step_larger_than_all_may_be_is_left_out(shelf: StepShelf) -> None:
    async with Kept(shelf) as kept:
        kept.results.step_done(report(0, files={"huge": bytes(70 << 10)}))
        await kept.until(1)
        assert kept.told == [(0, False)]


async def test_an_encoder_that_fails_costs_its_step_alone(shelf: StepShelf) -> None:
    async with Kept(shelf) as kept:
        sound = np.zeros((10, 3), np.int16)  # three channels, where a file has two
        kept.results.converted(QueuedChunk({}, {}, duration=0.1), {}, {"tone": sound})
        kept.results.step_done(report(0))
        kept.show()
        kept.results.step_done(report(1))
        await kept.until(2)
        assert kept.told == [(0, False), (1, True)]


async def test_results_stay_for_a_while_after_their_session(
    shelf: StepShelf, clock: FakeClock
) -> None:
    async with Kept(shelf) as kept:
        kept.results.name("s", "mine")
        kept.results.step_done(report(0, files={"a": b"1"}))
        await kept.until(1)
        clock.jump(1000)
        assert shelf.find("mine") == shelf.find("s")
        assert shelf.read("s", 0, "a") == b"1"
        for state in (SessionState.STREAMING, SessionState.ORPHANED, SessionState.CLOSING):
            kept.results.follow(state)
        clock.jump(50)
        kept.results.follow(SessionState.READY)  # the time runs from the end, once
        assert shelf.find("s") is not None
        clock.jump(11)
        assert shelf.find("s") is None
        assert shelf.find("mine") is None
        with pytest.raises(FileNotFoundError):
            shelf.read("s", 0, "a")


def test_a_full_queue_takes_no_more_but_one_step_always_fits() -> None:
    queue = StepQueue(1000)
    steps = [
        FinishedStep(report=report(n, files={"a": bytes(size)}), chunks=())
        for n, size in enumerate((5000, 1, 900, 100, 1))
    ]
    assert [queue.put(step) for step in steps[:2]] == [True, False]
    assert queue.take(0) is steps[0]
    assert [queue.put(step) for step in steps[2:]] == [True, True, False]
    assert [queue.take(0), queue.take(0), queue.take(0)] == [steps[2], steps[3], None]
    queue.put(steps[0])
    queue.close()
    assert queue.take(10) is None
