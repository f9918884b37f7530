"""What reaches the stream of what is emitted: layout, order, room, pace."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.contract.model_host.conftest import Serve, each_loop, in_process_only, pools_only
from tests.contract.model_host.recording_outlet import Flushed, Paced, Shown
from tests.contract.model_host.stage import Stage

from reactor_runtime.host.host_outlet import Chunk, CommandReply, HostFailure, StepReport


async def show(stage: Stage, kind: str) -> Shown:
    stage.open()
    await stage.ask("show", kind=kind)
    (shown,) = await stage.outlet.next(Shown)
    assert isinstance(shown, Shown)
    return shown


async def test_a_frame_is_a_chunk_of_one(serve: Serve) -> None:
    shown = await show(await serve("shows_what_is_asked"), "frame")
    assert shown.video["main_video"].shape == (1, 4, 6, 3)
    assert shown.audio == {}


async def test_a_chunk_keeps_its_frames_together(serve: Serve) -> None:
    shown = await show(await serve("shows_what_is_asked"), "chunk")
    assert shown.video["main_video"].shape == (3, 4, 6, 3)


async def test_floats_with_the_channels_first_are_laid_out(serve: Serve) -> None:
    shown = await show(await serve("shows_what_is_asked"), "float_first")
    assert shown.video["main_video"].shape == (1, 4, 6, 3)
    assert set(shown.video["main_video"].flat) == {128}


async def test_sound_is_int16_at_the_rate_of_its_track(serve: Serve) -> None:
    stage = await serve("shows_what_is_asked")
    shown = await show(stage, "sound")
    assert shown.video == {}
    assert shown.audio["voice"].dtype == np.int16
    assert shown.audio["voice"].shape == (1, 160)
    (voice,) = [track for track in stage.host.contract.tracks if track.name == "voice"]
    assert voice.sample_rate == 16_000


async def test_pictures_and_sound_of_one_output_stay_together(serve: Serve) -> None:
    shown = await show(await serve("shows_what_is_asked"), "both")
    assert (len(shown.video["main_video"]), shown.audio["voice"].shape) == (2, (2, 320))


async def test_in_a_world_of_one_a_shard_is_the_array(serve: Serve) -> None:
    shown = await show(await serve("shows_what_is_asked"), "shard")
    assert (len(shown.video["main_video"]), shown.value) == (2, 8)


@pytest.mark.parametrize(("asked", "told"), [("told", ("a", "b")), ("told_once", ({"x": 1},) * 2)])
async def test_metadata_travels_frame_by_frame(serve: Serve, asked: str, told: object) -> None:
    shown = await show(await serve("shows_what_is_asked"), asked)
    assert shown.chunk.metadata == {"main_video": told}


async def test_a_sound_has_one_metadata(serve: Serve) -> None:
    shown = await show(await serve("shows_what_is_asked"), "told_of_sound")
    assert shown.chunk.metadata == {"main_video": ("a", "b"), "voice": (["of", "it"],)}


async def test_an_empty_sound_is_nothing_to_show(serve: Serve) -> None:
    stage = await serve("shows_what_is_asked")
    stage.open()
    await stage.ask("show", kind="empty")
    await stage.ask("show", kind="frame")
    (shown,) = await stage.outlet.next(Shown)
    assert shown.value == 5


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("gray", ["main_video", "(4, 6)", "uint8", "(H, W, 3)"]),
        ("lopsided", ["main_video", "1 metadata values for 2 frames"]),
        ("shared_sound", ["track 'voice'", "this track is sound", "self.is_leader"]),
        ("strange", ["unknown", "no such track"]),
    ],
)
async def test_what_cannot_be_shown_ends_the_session_and_is_named(
    serve: Serve, caplog: pytest.LogCaptureFixture, asked: str, words: list[str]
) -> None:
    stage = await serve("shows_what_is_asked")
    stage.open()
    with caplog.at_level(logging.ERROR):
        await stage.ask("show", kind=asked)
        await stage.closed()
    assert [failure.message for failure in stage.outlet.of(HostFailure)] == ["FrameError"]
    assert all(word in caplog.text for word in words)


async def test_array_and_metadata_may_be_changed_when_emit_returns(serve: Serve) -> None:
    stage = await serve("reuses_one_array")
    stage.open()
    assert await stage.shown(5) == [0, 1, 2, 3, 4]
    for number, shown in enumerate(stage.outlet.of(Shown)[:5]):
        assert shown.chunk.metadata == {"main_video": ({"turns": [number]},)}


@in_process_only("on ranks handlers never run inside a step")
async def test_a_loop_waits_in_emit_while_the_queue_is_full(serve: Serve) -> None:
    stage = await serve("runs_free")
    stage.outlet.room = 2
    stage.open()
    await stage.shown(2)
    loops = await stage.ask_text("loops_so_far")
    assert loops == await stage.ask_text("loops_so_far") == "3"  # the third one waits
    stage.outlet.give_room(1)
    await stage.shown(3)


class FullQueue:
    """Has room for so many frames, and knows when it had to say no."""

    def __init__(self, stage: Stage, room: int) -> None:
        self.was_full = threading.Event()
        self._has_room = stage.outlet.has_room
        stage.outlet.room = room
        stage.outlet.has_room = self.has_room  # type: ignore[method-assign]

    def has_room(self, frames: int) -> bool:
        if not (found := self._has_room(frames)):
            self.was_full.set()
        return found

    async def is_waited_for(self) -> None:
        assert await asyncio.to_thread(self.was_full.wait, 10)


async def test_a_step_is_not_over_while_what_it_emits_finds_no_room(serve: Serve) -> None:
    stage = await serve("flushes_from_a_thread")
    queue = FullQueue(stage, 2)
    stage.open()
    await stage.ask("show_in_a_step", values=[1, 2, 3])
    await queue.is_waited_for()
    call = stage.call("show_in_a_step", values=[])
    assert await stage.shown(2) == [1, 2]
    assert not any(report.idle is False for report in stage.outlet.of(StepReport))
    assert stage.outlet.reply_to(call) is None
    stage.outlet.give_room(1)
    assert await stage.shown(3) == [1, 2, 3]
    await stage.reply(call)


@in_process_only("on ranks handlers never run inside a step")
async def test_flush_drops_an_emit_that_waits_and_nothing_after_it(serve: Serve) -> None:
    stage = await serve("runs_free")
    stage.outlet.room = 1
    stage.open()
    await stage.shown(1)
    while await stage.ask_text("loops_so_far") != "2":  # the second one waits, with value 1
        pass
    await stage.ask("set_value", value=2)
    await stage.ask("flush")
    stage.outlet.give_room(None)
    await stage.shown(2)
    assert [type(r) for r in stage.outlet.reports if isinstance(r, Flushed | Shown)][:3] == [
        Shown,
        Flushed,
        Shown,
    ]
    assert [shown.value for shown in stage.outlet.of(Shown)][:2] == [1, 2]


class Pipe:
    """What a model's thread waits at before it flushes."""

    def __init__(self, stage: Stage, path: Path) -> None:
        os.mkfifo(path)
        self._stage, self._path = stage, path

    async def arm(self) -> None:
        await self._stage.ask("flush_at", pipe=str(self._path))

    def flush(self) -> None:
        """Let the thread flush, and return when that was heard; from any thread."""
        self._path.write_bytes(b"")
        deadline = time.monotonic() + 10
        while not self._stage.outlet.of(Flushed) and time.monotonic() < deadline:
            time.sleep(0.001)  # the report comes by another thread


async def test_a_thread_may_flush_what_waits_for_room(serve: Serve, tmp_path: Path) -> None:
    stage = await serve("flushes_from_a_thread")
    pipe, queue = Pipe(stage, tmp_path / "flush"), FullQueue(stage, 1)
    stage.open()
    await pipe.arm()
    await stage.ask("show_in_a_step", values=[1, 2])
    await queue.is_waited_for()
    await asyncio.to_thread(pipe.flush)
    await stage.noted("flushed")
    stage.outlet.give_room(None)
    await stage.ask("show", values=[3])
    assert await stage.shown(2) == [1, 3]


@pytest.mark.parametrize("values", [[1], [1, 2]])
async def test_a_flush_drops_what_has_not_come_to_be_shown(
    serve: Serve, tmp_path: Path, values: list[int]
) -> None:
    stage = await serve("flushes_from_a_thread")
    pipe, tell = Pipe(stage, tmp_path / "flush"), stage.outlet.reply
    stage.open()
    await pipe.arm()

    def reply(answer: CommandReply) -> None:  # the ranks have answered, and nothing is shown
        if answer.call_id == call:
            pipe.flush()
        tell(answer)

    stage.outlet.reply = reply  # type: ignore[method-assign, assignment]
    call = next(stage.calls) + 1
    assert stage.call("show", values=values) == call
    await stage.noted("flushed")
    await stage.ask("show", values=[3, 4])
    await stage.outlet.until(lambda: any(shown.value == 4 for shown in stage.outlet.of(Shown)))
    assert pictures_after_flush(stage) == [3, 4]


def pictures_after_flush(stage: Stage) -> list[int]:
    reports = stage.outlet.reports
    after = reports[reports.index(Flushed()) + 1 :]
    return [report.value for report in after if isinstance(report, Shown)]


@each_loop("runs_free", "runs_in_turns")
async def test_the_rate_can_be_pinned_at_any_time(serve: Serve, loop: str) -> None:
    stage = await serve(loop)
    stage.open()
    await stage.shown()
    assert stage.outlet.of(Shown)[0].chunk.pinned_fps == 50
    assert await stage.ask_text("pace", fps=12.5) == "12.5"
    assert stage.outlet.of(Paced) == [Paced(50), Paced(12.5)]
    await stage.outlet.until(lambda: stage.outlet.of(Shown)[-1].chunk.pinned_fps == 12.5)
    assert (await stage.ask("pace", fps=0)).error_code == "internal_error"


async def test_a_chunk_stands_for_the_time_of_its_step(serve: Serve) -> None:
    stage = await serve("takes_turns")
    stage.open()
    await stage.shown(10)
    for shown in stage.outlet.of(Shown)[:10]:
        assert 0.002 <= shown.chunk.compute_s < 1
        assert shown.chunk.pinned_fps is None


@in_process_only("ranks refuse a loop without turns when it loads")
async def test_a_loop_of_nothing_but_emit_does_not_spin_while_nobody_is_there(
    serve: Serve,
) -> None:
    stage = await serve("emits_blindly")
    stage.start()
    before = int(await stage.ask_text("emissions_so_far"))
    began = time.monotonic()
    await asyncio.sleep(0.3)  # the rate of the loop is what is measured
    after = int(await stage.ask_text("emissions_so_far"))
    assert after - before <= (time.monotonic() - began) * 20 + 2
    assert stage.outlet.of(Shown) == []
    stage.join()
    await stage.shown(3)


@in_process_only("on ranks emit() raises in another thread")
async def test_an_emission_from_another_thread_is_shown(serve: Serve) -> None:
    stage = await serve("uses_threads")
    stage.open()
    await stage.ask("show")
    assert await stage.shown() == [77]


async def test_converting_a_chunk_is_on_the_next_ones_account(serve: Serve) -> None:
    stage = await serve("notes_everything")
    put = stage.outlet.put

    def put_slowly(chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        time.sleep(0.2)
        put(chunk, wanted)

    stage.outlet.put = put_slowly  # type: ignore[method-assign]
    stage.open()
    await stage.shown(3)
    first, *others = (shown.chunk.compute_s for shown in stage.outlet.of(Shown)[:3])
    assert first < 0.2 <= min(others)


class Conversion:
    """Holds up what a host converts until told to go on."""

    def __init__(self, stage: Stage) -> None:
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self._put = stage.outlet.put
        stage.outlet.put = self.put  # type: ignore[method-assign]

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        self.has_begun.set()
        self.may_end.wait(10)
        self._put(chunk, wanted)

    async def begun(self) -> None:
        assert await asyncio.to_thread(self.has_begun.wait, 10)


@pools_only
async def test_the_next_step_runs_while_a_chunk_is_converted(serve: Serve) -> None:
    stage = await serve("takes_turns")
    conversion = Conversion(stage)
    stage.open()
    await conversion.begun()
    await stage.noted("turn 1 True")
    assert stage.outlet.of(Shown) == []
    conversion.may_end.set()
    await stage.shown(5)
    spent = [report.ranks.copy_s for report in await stage.steps(5) if report.ranks]
    assert spent[0] == 0.0
    assert any(spent[1:])


@pools_only
async def test_a_flush_drops_what_is_being_converted(serve: Serve) -> None:
    stage = await serve("flushes_its_second_step")
    conversion = Conversion(stage)
    stage.open()
    await conversion.begun()
    await stage.noted("flushed")
    await stage.outlet.next(Flushed)
    conversion.may_end.set()
    assert await stage.shown(3) == [1, 2, 3]


@pools_only
async def test_what_is_converted_when_its_session_ends_is_never_shown(serve: Serve) -> None:
    stage = await serve("notes_everything")
    conversion = Conversion(stage)
    stage.open()
    await conversion.begun()
    stage.end()
    conversion.may_end.set()
    await stage.closed()
    assert stage.outlet.of(Shown) == []
    stage.open("s2")
    await stage.ask("set_level", level=9)
    await stage.outlet.until(lambda: any(shown.value == 9 for shown in stage.outlet.of(Shown)))
