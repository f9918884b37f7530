"""Inbound frames: delivered between steps, or to a step that waits for them."""

import numpy as np
from tests.contract.model_host.conftest import Serve
from tests.contract.model_host.recording_outlet import Shown, Unread
from tests.contract.model_host.stage import Stage
from tests.models.parts import flat

from reactor_runtime.host.host_outlet import HostFailure, StepReport

TWENTY_MS = np.ones((1, 960), np.int16)


async def test_a_step_that_waits_for_input_gets_it(serve: Serve) -> None:
    stage = await serve("reads_a_microphone")
    stage.open()
    for number in range(1, 7):
        stage.push("mic", TWENTY_MS * number)
    shown = await stage.outlet.next(Shown, 3)
    heard = [list(s.audio["voice"][0, ::960]) for s in shown]
    assert heard == [[1, 2], [3, 4], [5, 6]]


async def test_other_events_wait_for_the_end_of_such_a_step(serve: Serve) -> None:
    stage = await serve("reads_a_microphone")
    stage.open()
    stage.push("mic", TWENTY_MS)
    stage.push("mic", TWENTY_MS)
    await stage.noted("listening", times=2)
    stage.call("note", text="after the step")
    stage.push("mic", TWENTY_MS)
    stage.push("mic", TWENTY_MS)
    await stage.noted("after the step")
    assert stage.texts[:5] == ["listening", "heard", "listening", "heard", "after the step"]
    await stage.outlet.next(Shown, 2)
    assert stage.outlet.of(StepReport)[-1].wait_s > 0


async def test_a_read_may_time_out(serve: Serve) -> None:
    stage = await serve("reads_a_microphone")
    stage.start()
    await stage.ask("set_timeout", timeout=0.01)
    stage.join()
    await stage.noted("timed out", times=2)
    assert stage.outlet.of(HostFailure) == []


async def test_the_end_of_the_session_ends_a_waiting_read_normally(serve: Serve) -> None:
    stage = await serve("reads_a_microphone")
    stage.open()
    stage.end()
    await stage.closed()
    assert stage.texts[-1] == "ended"
    assert stage.outlet.of(HostFailure) == []


async def test_the_last_client_leaving_ends_a_waiting_read_too(serve: Serve) -> None:
    stage = await serve("reads_a_microphone")
    for catch in (False, True):
        session = f"catches {catch}"
        stage.start(session)
        await stage.ask("set_catch", catch=catch)
        stage.join()
        stage.push("mic", TWENTY_MS)
        stage.leave()
        assert (await stage.ask("note", text="left")).error_code is None
        stage.join()
        before = len(stage.outlet.of(Shown))
        stage.push("mic", TWENTY_MS)
        stage.push("mic", TWENTY_MS)
        await stage.outlet.more(Shown, after=before)
        stage.end(session)
        await stage.closed(session)
    assert stage.outlet.of(HostFailure) == []


async def test_what_arrives_during_a_step_is_seen_by_the_next(serve: Serve) -> None:
    stage = await serve("watches_a_camera")
    stage.open()
    await stage.noted("step 0")
    stage.push("camera", flat(33))
    await stage.noted("later 0")
    assert await stage.shown() == [33]


async def test_the_newest_frame_is_read(serve: Serve) -> None:
    stage = await serve("watches_a_camera")
    stage.open()
    await stage.noted("step 0")
    for value in (1, 2, 3):
        stage.push("camera", flat(value))
    assert await stage.shown() == [3]


async def test_the_oldest_frames_are_dropped_and_counted(serve: Serve) -> None:
    stage = await serve("watches_a_camera")
    stage.outlet.room = 0  # no step takes any
    stage.open()
    assert await stage.ask_text("counts") == "0 0 0"
    for value in range(300):
        stage.push("camera", flat(value))
    assert await stage.ask_text("counts") == "128 300 172"
    await stage.outlet.until(lambda: unread(stage, "overflow") == 172)


async def test_frames_that_a_read_of_the_newest_passes_over_are_counted(serve: Serve) -> None:
    stage = await serve("watches_a_camera")
    stage.open()
    await stage.noted("step 0")
    for value in (1, 2, 3):
        stage.push("camera", flat(value))
    assert await stage.shown() == [3]
    await stage.outlet.until(lambda: unread(stage, "passed_over") == 2)


def unread(stage: Stage, reason: str) -> int:
    return sum(each.frames for each in stage.outlet.of(Unread) if each.reason == reason)


async def test_buffers_start_afresh_with_the_next_first_client(serve: Serve) -> None:
    stage = await serve("watches_a_camera")
    stage.outlet.room = 0
    stage.open()
    assert await stage.ask_text("counts") == "0 0 0"
    stage.push("camera", flat(1))
    assert await stage.ask_text("counts") == "1 1 0"
    stage.leave()
    stage.push("camera", flat(2))  # from nobody
    stage.join()
    assert await stage.ask_text("counts") == "0 0 0"


async def test_frames_of_unknown_tracks_are_dropped(serve: Serve) -> None:
    stage = await serve("watches_a_camera")
    stage.open()
    stage.push("no_such_track", flat(1))
    await stage.steps()
