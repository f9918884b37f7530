"""What one packet of sound takes with it, whatever happens before it is sent."""

import asyncio

import numpy as np
from tests.unit.media.material import audio, make_chunk
from tests.unit.media.test_tap import Bucket

from reactor_runtime.media.audio_encoding import AudioEncoding
from reactor_runtime.media.audio_lane import AudioLane
from reactor_runtime.media.chunk_converter import ChunkConverter
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.fan_out import FanOut
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.pacer import Pacer
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.track_figures import TrackFigures
from reactor_runtime.metrics import Metrics
from reactor_runtime.testing.fake_clock import FakeClock


async def test_a_new_session_does_not_touch_the_packet_that_is_being_sent() -> None:
    clock, settings = FakeClock(), MediaSettings()
    converter = ChunkConverter([audio()], settings=settings, clock=clock)
    pacer = Pacer(converter.make_lines(), has_video=False, settings=settings, clock=clock)
    encoding = AudioEncoding(
        "voice",
        FanOut(pacer.changed, clock=clock, most_undelivered=50),
        settings=settings,
        clock=clock,
        figures=TrackFigures("voice", [Rendition("voice", Codec.OPUS)], Metrics()),
    )
    bucket = Bucket()
    encoding.tap = bucket
    lane = AudioLane(pacer, [encoding], clock=clock)
    lane.take(clock.now())
    tone = np.full((1, 960), 900, np.int16)
    pacer.put(*converter.convert(make_chunk(audio={"voice": tone}, metadata={"voice": ("hm",)})))
    await clock.advance(0.02)
    work = lane.take(clock.now())
    assert work is not None
    lane.forget()
    work(asyncio.get_running_loop())
    assert [said.metadata for _, said in bucket.said] == ["hm"]
