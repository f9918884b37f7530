"""What a tap gets of a stream, beside its viewers and without any."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.media.material import CLOCK, Viewer, audio, make_chunk, plain, video
from tests.waiting import until

from reactor_runtime.errors import TrackError
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.timeline import Said, Shown


class Bucket:
    """Keeps what the tap gives."""

    def __init__(self) -> None:
        self.is_open = True
        self.pictures: list[Shown] = []
        self.sounds: list[tuple[float, NDArray[np.int16]]] = []
        self.said: list[tuple[float, Said]] = []

    def picture(self, shown: Shown) -> None:
        self.pictures.append(shown)

    def sound(
        self, presented_at: float, samples: NDArray[np.int16], said: Sequence[Said] = ()
    ) -> None:
        self.sounds.append((presented_at, samples))
        self.said += [(presented_at, each) for each in said]


@pytest.fixture
def tapped() -> Any:
    """Return a maker of a started stream with two tracks of each kind, one of each tapped."""
    streams: list[LiveStream] = []

    def make() -> tuple[LiveStream, Bucket]:
        stream = LiveStream(
            [video(), video("other"), audio(), audio("hum")], settings=MediaSettings(), clock=CLOCK
        )
        bucket = Bucket()
        stream.give_to(bucket, ("main", "voice"))
        stream.start(asyncio.get_running_loop())
        streams.append(stream)
        return stream, bucket

    yield make
    for stream in streams:
        stream.stop()


MakeTapped = Callable[[], tuple[LiveStream, Bucket]]


async def test_every_picture_of_its_track_comes_once_with_its_time(tapped: MakeTapped) -> None:
    stream, bucket = tapped()
    colours = [(60 * n, 10, 10) for n in range(4)]
    chunk = make_chunk(
        {"main": np.concatenate([plain(c) for c in colours]), "other": plain((9, 9, 9), frames=4)},
        metadata={"main": tuple(range(4))},
    )
    stream.put(chunk)
    await until(lambda: len(bucket.pictures) == 4)
    joined_late = Viewer(stream, "main", Codec.VP8)
    await joined_late.wait(1)  # for whom the last picture is encoded again
    assert [shown.picture.metadata for shown in bucket.pictures] == [0, 1, 2, 3]
    gaps = [b.time - a.time for a, b in pairwise(bucket.pictures)]
    assert gaps == pytest.approx([0.04] * 3, abs=0.03)


async def test_sound_comes_without_a_gap_though_nobody_listens(tapped: MakeTapped) -> None:
    stream, bucket = tapped()
    tone = (9000 * np.sin(np.arange(9600) / 20)).astype(np.int16)[None]
    stream.put(make_chunk({"main": plain((9, 9, 9))}, {"voice": tone, "hum": tone}))
    await until(lambda: len(bucket.sounds) > 20)
    starts = [at for at, _ in bucket.sounds]
    assert [b - a for a, b in pairwise(starts)] == pytest.approx([0.02] * (len(starts) - 1))
    heard = np.concatenate([samples for _, samples in bucket.sounds])
    assert (np.abs(heard).max(axis=1) > 100).sum() > 9000
    assert {samples.shape for _, samples in bucket.sounds} == {(960, 2)}


async def test_what_is_said_of_a_sound_comes_with_its_first_packet(tapped: MakeTapped) -> None:
    stream, bucket = tapped()
    tone = np.full((1, 4800), 900, np.int16)
    for number in range(3):
        told = {"main": (None,), "voice": (number,), "hum": ("untapped",)}
        stream.put(
            make_chunk({"main": plain((9, 9, 9))}, {"voice": tone, "hum": tone}, metadata=told)
        )
    await until(lambda: len(bucket.said) == 3)
    assert [said.metadata for _, said in bucket.said] == [0, 1, 2]
    assert {said.track for _, said in bucket.said} == {"voice"}
    gaps = [b.time - a.time for (_, a), (_, b) in pairwise(bucket.said)]
    assert all(gap > 0.09 for gap in gaps)
    assert all(said.time < presented_at + 0.02 for presented_at, said in bucket.said)


async def test_what_was_said_while_the_tap_was_closed_stays_unheard(tapped: MakeTapped) -> None:
    stream, bucket = tapped()
    bucket.is_open = False
    tone = np.full((1, 480), 900, np.int16)
    stream.put(make_chunk(audio={"voice": tone}, metadata={"voice": ("before",)}))
    await until(lambda: "metadata" in stream.stats()["tracks"]["voice"])
    bucket.is_open = True
    stream.put(make_chunk(audio={"voice": tone}, metadata={"voice": ("after",)}))
    await until(lambda: bool(bucket.said))
    assert [said.metadata for _, said in bucket.said] == ["after"]


async def test_black_is_a_picture_too(tapped: MakeTapped) -> None:
    stream, bucket = tapped()
    stream.put(make_chunk({"main": plain((200, 200, 200))}))
    await until(lambda: len(bucket.pictures) == 1)
    stream.flush()
    await until(lambda: len(bucket.pictures) == 2)


async def test_a_closed_tap_gets_nothing_and_viewers_everything(tapped: MakeTapped) -> None:
    stream, bucket = tapped()
    bucket.is_open = False
    eye, ear = Viewer(stream, "main", Codec.VP8), Viewer(stream, "voice", Codec.OPUS)
    stream.put(make_chunk({"main": plain((9, 9, 9), frames=3)}))
    await eye.wait(3)
    await ear.wait(3)
    assert (bucket.pictures, bucket.sounds) == ([], [])


def test_only_output_tracks_can_be_tapped() -> None:
    stream = LiveStream([video()], settings=MediaSettings(), clock=CLOCK)
    with pytest.raises(TrackError, match="voice"):
        stream.give_to(Bucket(), ("main", "voice"))
