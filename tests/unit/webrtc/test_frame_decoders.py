import asyncio
import contextlib
import fractions
from typing import Any

import av
import numpy as np
import pytest
from tests.waiting import until

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.frame_decoders import DecodedInput, EncodedInput, make_decoder
from reactor_runtime.webrtc.media_decoder import MediaDecoder


def pictures(name: str, count: int, size: tuple[int, int] = (322, 242)) -> list[bytes]:
    encoder: Any = av.CodecContext.create(name, "w")
    encoder.width, encoder.height, encoder.pix_fmt = *size, "yuv420p"
    encoder.bit_rate, encoder.gop_size = 2_000_000, 300
    encoder.time_base, encoder.framerate = fractions.Fraction(1, 30), fractions.Fraction(30, 1)
    if name == "libx264":
        encoder.options, encoder.profile = {"tune": "zerolatency"}, "Baseline"
    else:
        encoder.options = {"deadline": "realtime", "cpu-used": "-8", "lag-in-frames": "0"}
    found = []
    for number in range(count):
        rgb = np.full((size[1], size[0], 3), (number * 20, 100, 0), np.uint8)
        frame = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv420p")
        frame.pts = number
        found += [bytes(packet) for packet in encoder.encode(frame)]
    return found


def sounds(count: int, hertz: float = 440.0) -> list[bytes]:
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.format, encoder.layout, encoder.sample_rate = "s16", "stereo", 48_000
    encoder.options = {"application": "audio"}
    wave = np.sin(np.arange(960 * count) * 2 * np.pi * hertz / 48_000) * 12_000
    found = []
    for number in range(count):
        part = np.repeat(wave[number * 960 : (number + 1) * 960].astype(np.int16), 2)
        frame = av.AudioFrame.from_ndarray(part[None], format="s16", layout="stereo")
        frame.sample_rate, frame.pts = 48_000, number * 960
        found += [bytes(packet) for packet in encoder.encode(frame)]
    return found


def encoded(data: bytes, timestamp: int = 0, capture_us: int = 7) -> EncodedInput:
    return EncodedInput(data=data, timestamp=timestamp, capture_time_us=capture_us)


def decode(decoder: Any, frame: EncodedInput, outdated: bool = False) -> list[Any]:
    return list(decoder.decode(frame, lambda: outdated))


@pytest.mark.parametrize(("codec", "name"), [(Codec.VP8, "libvpx"), (Codec.H264, "libx264")])
def test_pictures_become_rgb_at_once(codec: Codec, name: str) -> None:
    decoder = make_decoder(codec, None)
    for number, data in enumerate(pictures(name, 4)):
        [frame] = decode(decoder, encoded(data, capture_us=1_788_000_000_000_000 + number))
        assert frame.data.shape == (242, 322, 3)
        assert frame.data.dtype == np.uint8
        assert frame.capture_time_us == 1_788_000_000_000_000 + number
        red, green, blue = frame.data[100, 100]
        assert abs(int(red) - number * 20) < 12
        assert abs(int(green) - 100) < 12
        assert blue < 20


def test_an_outdated_picture_is_decoded_but_not_converted() -> None:
    decoder = make_decoder(Codec.VP8, None)
    first, second = pictures("libvpx", 2)
    assert decode(decoder, encoded(first), outdated=True) == [None]
    [frame] = decode(decoder, encoded(second))
    assert frame.data.shape == (242, 322, 3)


def test_a_huge_picture_is_refused_before_it_is_decoded() -> None:
    head = bytearray(pictures("libvpx", 1)[0])
    head[6:10] = b"\xff\x3f\xff\x3f"  # 16383 x 16383
    with pytest.raises(av.FFmpegError):
        decode(make_decoder(Codec.VP8, None), encoded(bytes(head)))


@pytest.mark.parametrize("codec", list(Codec))
def test_junk_is_an_ffmpeg_error_or_nothing(codec: Codec) -> None:
    decoder = make_decoder(codec, 16_000)
    for size in (1, 2, 10, 100, 1000):
        with contextlib.suppress(av.FFmpegError, ValueError):
            decode(decoder, encoded(bytes(range(256))[:size] * 4))


def tone_of(samples: Any, rate: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate / len(samples))


@pytest.mark.parametrize("rate", [16_000, 24_000, 44_100, 48_000])
def test_sound_becomes_mono_at_the_models_rate(rate: int) -> None:
    decoder = make_decoder(Codec.OPUS, rate)
    parts = []
    for number, data in enumerate(sounds(50)):
        parts += decode(decoder, encoded(data, number * 960))
    whole = np.concatenate([part.data for part in parts], axis=1)
    assert whole.dtype == np.int16
    assert whole.shape[0] == 1
    assert abs(whole.shape[1] - rate) < rate // 50
    assert abs(tone_of(whole[0, rate // 5 :], rate) - 440) < 4


def test_a_short_loss_becomes_silence_and_a_pause_does_not() -> None:
    decoder = make_decoder(Codec.OPUS, 48_000)
    data = sounds(4)
    lengths = []
    for packet, timestamp in zip(data, (0, 960, 3 * 960, 3 * 960 + 48_000), strict=True):
        lengths.append(
            sum(part.data.shape[1] for part in decode(decoder, encoded(packet, timestamp)))
        )
    assert lengths == [960, 960, 1920, 960]


class Collected:
    """Takes what a ``MediaDecoder`` delivers."""

    def __init__(self) -> None:
        self.frames: list[DecodedInput] = []
        self.broken = 0

    def decoder(self, codec: Codec, **bounds: int) -> MediaDecoder:
        options = {"capacity": 12, "keep": 1, **bounds}
        decoder = MediaDecoder(
            make_decoder(codec, 48_000), self.frames.append, self.note_broken, **options
        )
        decoder.start()
        return decoder

    def note_broken(self) -> None:
        self.broken += 1


async def test_frames_are_delivered_on_the_loop() -> None:
    collected = Collected()
    decoder = collected.decoder(Codec.OPUS, keep=20)
    for number, data in enumerate(sounds(5)):
        assert decoder.put(encoded(data, number * 960))
    await until(lambda: len(collected.frames) == 5)
    await decoder.stop()
    await decoder.stop()


async def test_the_newest_picture_wins_when_nobody_comes_to_read() -> None:
    collected = Collected()
    decoder = collected.decoder(Codec.VP8)
    for number, data in enumerate(pictures("libvpx", 8)):
        decoder.put(encoded(data, capture_us=number + 1))
    await until(lambda: bool(collected.frames) and collected.frames[-1].capture_time_us == 8)
    assert len(collected.frames) + decoder.dropped == 8
    await decoder.stop()


async def test_a_decoder_too_far_behind_starts_anew() -> None:
    collected = Collected()
    decoder = collected.decoder(Codec.VP8, capacity=3)
    data = pictures("libvpx", 60, (1280, 720))
    taken = [decoder.put(encoded(frame)) for frame in data]
    assert False in taken
    assert decoder.dropped >= 4
    await decoder.stop()


async def test_a_broken_frame_is_told_and_survived() -> None:
    collected = Collected()
    decoder = collected.decoder(Codec.VP8)
    decoder.put(encoded(b"\x00" * 20))
    await until(lambda: collected.broken == 1)
    decoder.put(encoded(pictures("libvpx", 1)[0]))
    await until(lambda: len(collected.frames) == 1)
    await decoder.stop()


@pytest.mark.parametrize("codec", list(Codec))
async def test_a_frame_of_nothing_is_no_end(codec: Codec) -> None:
    """FFmpeg takes an empty packet for the end of the stream, and nothing more after it."""
    made = {Codec.VP8: "libvpx", Codec.H264: "libx264"}
    data = sounds(1)[0] if codec is Codec.OPUS else pictures(made[codec], 1)[0]
    collected = Collected()
    decoder = collected.decoder(codec)
    assert decoder.put(encoded(b""))
    assert decoder.put(encoded(data))
    await until(lambda: len(collected.frames) == 1)
    await decoder.stop()


async def test_a_stopped_decoder_delivers_nothing_more() -> None:
    collected = Collected()
    decoder = collected.decoder(Codec.VP8)
    for frame in pictures("libvpx", 10):
        decoder.put(encoded(frame))
    await decoder.stop()
    seen = len(collected.frames)
    await asyncio.sleep(0)
    assert len(collected.frames) <= seen + 1
