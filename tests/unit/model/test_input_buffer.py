import asyncio
import threading

import numpy as np
import pytest

from reactor_runtime.errors import BufferClosed
from reactor_runtime.model.input_buffer import InputBuffer, InputFrame, ReadMode
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind


def filled(*values: int, track: Track | None = None) -> InputBuffer:
    buffer = InputBuffer(track)
    for value in values:
        buffer.push(InputFrame(value))
    return buffer


def values(frames: list[InputFrame] | None) -> list[int] | None:
    return None if frames is None else [frame.data for frame in frames]


def test_a_frame_has_data_metadata_and_a_capture_time() -> None:
    frame = InputFrame(1, metadata={"a": 1}, capture_time_us=5)
    assert (frame.data, frame.metadata, frame.capture_time_us) == (1, {"a": 1}, 5)
    assert InputFrame(1).capture_time_us is None


def test_the_newest_are_read_and_older_ones_skipped() -> None:
    buffer = filled(1, 2, 3, 4)
    assert values(buffer.try_read()) == [4]
    assert buffer.available == 0
    assert values(filled(1, 2, 3, 4).try_read(2)) == [3, 4]


@pytest.mark.parametrize("mode", [ReadMode.FIFO, "fifo"])
def test_in_order_the_oldest_are_read(mode: ReadMode) -> None:
    buffer = filled(1, 2, 3, 4)
    assert values(buffer.try_read(2, mode=mode)) == [1, 2]
    assert values(buffer.try_read(2, mode=mode)) == [3, 4]


@pytest.mark.parametrize("n", [0, 2])
def test_less_than_asked_for_is_nothing(n: int) -> None:
    buffer = filled(1)
    assert buffer.try_read(n) is None
    assert buffer.available == 1


def test_the_oldest_are_dropped_and_counted() -> None:
    buffer = filled(*range(200))
    assert (buffer.available, buffer.total_received, buffer.dropped) == (128, 200, 72)
    assert values(buffer.try_read(1, ReadMode.FIFO)) == [72]


def test_what_a_read_of_the_newest_passes_over_is_counted() -> None:
    buffer = filled(1, 2, 3)
    assert values(buffer.try_read(1)) == [3]
    assert (buffer.available, buffer.dropped, buffer.skipped) == (0, 0, 2)


def test_more_than_it_ever_holds_is_an_error() -> None:
    with pytest.raises(ValueError, match="129 frames are more than the 128"):
        InputBuffer().try_read(129)


def test_sound_is_bounded_by_its_samples() -> None:
    track = Track(
        name="mic",
        kind=TrackKind.AUDIO,
        direction=TrackDirection.IN,
        sample_rate=48_000,
        buffer_seconds=0.1,
    )
    buffer = InputBuffer(track)
    for _ in range(10):
        buffer.push(InputFrame(np.zeros((1, 960), np.int16)))
    assert (buffer.available, buffer.dropped) == (5, 5)


@pytest.mark.parametrize(("step_us", "held"), [(100_000, 11), (None, 128)])
def test_pictures_are_bounded_by_their_capture_times(step_us: int | None, held: int) -> None:
    track = Track(
        name="camera", kind=TrackKind.VIDEO, direction=TrackDirection.IN, buffer_seconds=1.0
    )
    buffer = InputBuffer(track)
    for number in range(300):
        buffer.push(InputFrame(number, capture_time_us=step_us and step_us * number))
    assert buffer.available == held


def test_clear_forgets_what_was_not_read() -> None:
    buffer = filled(1, 2)
    buffer.clear()
    assert buffer.try_read() is None
    assert buffer.total_received == 2


def test_once_closed_every_read_says_so() -> None:
    track = Track(name="mic", kind=TrackKind.AUDIO, direction=TrackDirection.IN)
    buffer = filled(1, track=track)
    buffer.close()
    assert buffer.closed
    buffer.push(InputFrame(2))
    with pytest.raises(BufferClosed, match="'mic' is closed"):
        buffer.try_read()
    with pytest.raises(BufferClosed):
        asyncio.run(buffer.read())
    buffer.reopen()
    assert (buffer.closed, buffer.total_received) == (False, 0)
    assert buffer.try_read() is None


async def test_a_read_waits_for_as_many_as_it_asks_for() -> None:
    buffer = filled(1)
    reading = asyncio.ensure_future(buffer.read(2, mode=ReadMode.FIFO))
    await asyncio.sleep(0)
    assert buffer.is_awaited
    thread = threading.Thread(target=lambda: buffer.push(InputFrame(2)))
    thread.start()
    assert values(await asyncio.wait_for(reading, 5)) == [1, 2]
    thread.join()
    assert not buffer.is_awaited


async def test_a_read_gives_up_in_time() -> None:
    with pytest.raises(TimeoutError):
        await InputBuffer().read(timeout=0.01)


async def test_closing_ends_a_read_that_waits() -> None:
    buffer = InputBuffer()
    reading = asyncio.ensure_future(buffer.read())
    await asyncio.sleep(0)
    buffer.close()
    with pytest.raises(BufferClosed):
        await asyncio.wait_for(reading, 5)


@pytest.mark.parametrize("n", [0, -1])
async def test_a_read_of_nothing_is_an_error(n: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        await InputBuffer().read(n)


def test_one_buffer_serves_one_loop_after_another() -> None:
    buffer = InputBuffer()
    for value in (1, 2):
        buffer.push(InputFrame(value))
        assert values(asyncio.run(buffer.read(timeout=1))) == [value]


def test_everything_is_handed_over_drops_included() -> None:
    held, buffer = filled(*range(130)), filled()
    held.move_to(buffer)
    assert (held.available, held.dropped) == (0, 0)
    assert (buffer.available, buffer.total_received, buffer.dropped) == (128, 130, 2)
