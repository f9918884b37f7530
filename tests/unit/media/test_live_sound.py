"""Sound through the stream, heard by viewers that decode it."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.e2e.strain import strain
from tests.unit.media.material import CLOCK, Viewer, audio, make_chunk, plain, video
from tests.waiting import until

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.live_stream import LiveStream

MakeStream = Callable[..., LiveStream]
LOUD = 1500


def tone(rate: int, seconds: float, channels: int = 1, *, pitch: float = 440) -> Any:
    wave = 12_000 * np.sin(2 * np.pi * pitch * np.arange(round(rate * seconds)) / rate)
    return np.tile(wave.astype(np.int16), (channels, 1))


def envelope(sound: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return the loudest sample within 3 ms of each."""
    windows = np.lib.stride_tricks.sliding_window_view(np.abs(sound[:, 0]), 145)
    return np.pad(windows.max(axis=1), (72, 72))


def heard(sound: NDArray[np.int16]) -> tuple[int, int]:
    """Return where sound begins and ends, in samples."""
    loud = np.flatnonzero(np.abs(sound[:, 0].astype(int)) > LOUD)
    return int(loud[0]), int(loud[-1])


def pitch_of(sound: NDArray[np.int16]) -> float:
    spectrum = np.abs(np.fft.rfft(sound[:, 0] * np.hanning(len(sound)), 1 << 18))
    return float(spectrum.argmax() * 48_000 / (1 << 18))


def lead_s() -> float:
    """Return how long a silence must be for a busy machine to queue what follows meanwhile."""
    return min(0.3 * strain(), 3.0)


async def listen(make_stream: MakeStream, rate: int, channels: int, size: int) -> Viewer:
    """Put a tone of 0.4 s in chunks of *size* samples and return who heard it."""
    stream = make_stream(audio(rate=rate))
    viewer = Viewer(stream, "voice", Codec.OPUS)
    await viewer.wait(3)
    source, silent_s = tone(rate, 0.4, channels), lead_s()
    silence = np.zeros((channels, round(rate * silent_s)), np.int16)

    def put_all() -> None:
        stream.put(make_chunk(audio={"voice": silence}, pinned_fps=None))
        for at in range(0, source.shape[1], size):
            stream.put(make_chunk(audio={"voice": source[:, at : at + size]}, pinned_fps=None))
            stream.put(make_chunk(audio={"voice": source[:, :0]}, pinned_fps=None))

    await asyncio.to_thread(put_all)
    await viewer.wait(len(viewer.frames) + round(50 * silent_s) + 26)
    viewer.subscription.close()
    return viewer


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
async def test_a_tone_arrives_whole_at_its_pitch_without_a_gap(
    make_stream: MakeStream, rate: int, channels: int
) -> None:
    sizes = (441, 960, 1000, 48_000)
    viewers = await asyncio.gather(*(listen(make_stream, rate, channels, size) for size in sizes))
    for size, viewer in zip(sizes, viewers, strict=True):
        sound = viewer.sound()
        first, last = heard(sound)
        assert (last - first) / 48_000 == pytest.approx(0.4, abs=0.015), size
        assert pitch_of(sound[first:last]) == pytest.approx(440, abs=2), size
        assert envelope(sound)[first + 480 : last - 480].min() > 6000, size


async def test_chunks_of_one_sample_are_a_tone_too(make_stream: MakeStream) -> None:
    stream = make_stream(audio())
    viewer = Viewer(stream, "voice", Codec.OPUS)
    await viewer.wait(2)
    silent_s = lead_s()
    silence = np.zeros((1, round(48_000 * silent_s)), np.int16)

    def put_all() -> None:
        stream.put(make_chunk(audio={"voice": silence}, pinned_fps=None))
        stream.put(make_chunk(audio={"voice": tone(48_000, 0.3)}, pinned_fps=None))
        for sample in tone(48_000, 0.05).T:
            stream.put(make_chunk(audio={"voice": sample[:, None]}, pinned_fps=None))

    await asyncio.to_thread(put_all)
    await viewer.wait(len(viewer.frames) + round(50 * silent_s) + 22)
    first, last = heard(viewer.sound())
    assert (last - first) / 48_000 == pytest.approx(0.35, abs=0.015)


async def test_packets_follow_without_a_gap_and_pauses_are_silence(make_stream: MakeStream) -> None:
    stream = make_stream(audio())
    viewer = Viewer(stream, "voice", Codec.OPUS)
    await viewer.wait(5)
    for _ in range(2):
        stream.put(make_chunk(audio={"voice": tone(48_000, 0.1)}, pinned_fps=None))
        await viewer.wait(len(viewer.frames) + 15)
    frames = viewer.frames
    assert {b.timestamp - a.timestamp for a, b in itertools.pairwise(frames)} == {960}
    assert {b.number - a.number for a, b in itertools.pairwise(frames)} == {1}
    loudness = np.abs(viewer.sound()[:, 0].astype(int)).reshape(-1, 960).max(axis=1)
    beats = (loudness > LOUD).astype(int)
    assert (np.diff(beats) == 1).sum() == 2
    assert beats[-1] == 0


async def test_a_picture_and_its_sound_share_their_time(make_stream: MakeStream) -> None:
    stream = make_stream(video(), audio(rate=16_000))
    eye, ear = Viewer(stream, "main", Codec.VP8), Viewer(stream, "voice", Codec.OPUS)
    await ear.wait(4)
    for colour in ((20, 20, 20), (220, 220, 220), (20, 20, 20)):
        loud = tone(16_000, 0.2) if colour[0] > 100 else np.zeros((1, 3200), np.int16)
        stream.put(make_chunk({"main": plain(colour, frames=5)}, {"voice": loud}))
    await eye.wait(15)
    await ear.wait(len(ear.frames) + 10)
    flash = next(i for i, each in enumerate(eye.colours()) if each[0] > 120)
    begins, _ = heard(ear.sound())
    decoder_delay = 312 / 48_000
    sound_at = ear.frames[0].presented_at + begins / 48_000 - decoder_delay
    assert abs(eye.frames[flash].presented_at - sound_at) < 0.012
    assert eye.frames[flash].timestamp / 90_000 == pytest.approx(
        eye.frames[flash].presented_at - eye.frames[0].presented_at + eye.frames[0].timestamp / 9e4,
        abs=0.001,
    )
    gaps = [b.timestamp - a.timestamp for a, b in itertools.pairwise(eye.frames[:15])]
    assert gaps.count(3600) > 10


async def test_sound_stays_with_late_pictures(make_stream: MakeStream) -> None:
    stream = make_stream(video(), audio())
    eye, ear = Viewer(stream, "main", Codec.VP8), Viewer(stream, "voice", Codec.OPUS)
    starts = []
    for _ in range(3):
        stream.put(make_chunk({"main": plain((9, 9, 9), frames=3)}, {"voice": tone(48_000, 0.12)}))
        starts.append(len(eye.frames))
        gone = CLOCK.now() + 0.3 * strain()
        await until(lambda gone=gone: CLOCK.now() > gone, 60)  # type: ignore[misc]
    sound = np.abs(ear.sound()[:, 0].astype(int))
    loud = envelope(ear.sound()) > LOUD
    assert sound.max() > 8000
    begins = np.flatnonzero(np.diff(loud.astype(int)) == 1) / 48_000 + ear.frames[0].presented_at
    shown = [eye.frames[at].presented_at for at in starts]
    for picture, heard_at in zip(shown[1:], begins[-2:], strict=True):
        assert abs(heard_at - picture) < 0.04 * strain()


async def test_a_flush_is_silence_at_once(make_stream: MakeStream) -> None:
    stream = make_stream(audio())
    viewer = Viewer(stream, "voice", Codec.OPUS)
    await viewer.wait(2)
    stream.put(make_chunk(audio={"voice": tone(48_000, 5.0)}, pinned_fps=None))
    await viewer.wait(len(viewer.frames) + 10)
    await asyncio.sleep(0)  # the loop may be behind
    flushed = len(viewer.frames)
    stream.flush()
    await viewer.wait(flushed + 10)
    loudness = np.abs(viewer.sound()[:, 0].astype(int)).reshape(-1, 960).max(axis=1)
    assert loudness[flushed + 3 :].max() < LOUD


async def test_a_late_listener_hears_what_is_on_now(make_stream: MakeStream) -> None:
    stream = make_stream(audio())
    stream.put(make_chunk(audio={"voice": tone(48_000, 0.3, pitch=440)}, pinned_fps=None))
    stream.put(make_chunk(audio={"voice": tone(48_000, 5.0, pitch=880)}, pinned_fps=None))
    gone = CLOCK.now() + 0.4
    await until(lambda: CLOCK.now() > gone)
    viewer = Viewer(stream, "voice", Codec.OPUS)
    await viewer.wait(15)
    assert pitch_of(viewer.sound()[1920:]) == pytest.approx(880, abs=4)
