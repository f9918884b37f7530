from typing import Any

import av
import numpy as np
import pytest

from reactor_runtime.errors import EncoderError
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.picture import Picture, PictureMaker
from reactor_runtime.media.video_encoder import EncodedPicture, VideoEncoder, VideoFormat

CODECS = [(Codec.VP8, "vp8"), (Codec.H264, "h264")]


def moving(count: int, width: int, height: int) -> list[Picture]:
    y, x = np.mgrid[0:height, 0:width]
    frames = [
        np.stack([(x + 3 * k) % 256, (y + 2 * k) % 256, (x + y) // 2 % 256], -1)
        for k in range(count)
    ]
    return PictureMaker().convert(np.stack(frames).astype(np.uint8))


def opened(codec: Codec, width: int, height: int, **facts: Any) -> VideoEncoder:
    wanted = {"fps": 24.0, "bitrate": 2_000_000, "threads": 1} | facts
    return VideoEncoder(codec, VideoFormat(width=width, height=height, **wanted))


def encode(encoder: VideoEncoder, pictures: list[Picture], *keys: int) -> list[EncodedPicture]:
    return [encoder.encode(p, 3750 * k, key=k in keys) for k, p in enumerate(pictures)]


def decode(name: str, made: list[EncodedPicture]) -> list[Any]:
    decoder: Any = av.CodecContext.create(name, "r")
    return [frame for each in made for frame in decoder.decode(av.Packet(each.bitstream))]


@pytest.mark.parametrize(("codec", "decoder"), CODECS)
@pytest.mark.parametrize(("width", "height"), [(320, 180), (161, 91), (16, 16), (3, 5), (1, 1)])
def test_every_picture_comes_out_at_once(
    codec: Codec, decoder: str, width: int, height: int
) -> None:
    pictures = moving(6, width, height)
    made = encode(opened(codec, width, height), pictures, 4)
    assert [each.is_key for each in made] == [True, False, False, False, True, False]
    shown = decode(decoder, made)
    assert len(shown) == 6
    even = 2 if codec is Codec.H264 else 1
    assert shown[0].width == -(-width // even) * even
    assert shown[0].height == -(-height // even) * even


def test_a_picture_no_encoder_takes_is_an_error_that_says_which() -> None:
    picture = Picture(frame=av.VideoFrame(20_000, 2, "yuv420p"))
    with pytest.raises(EncoderError, match="VP8 encoder refused a picture of 20000x2"):
        opened(Codec.VP8, 20_000, 2).encode(picture, 0, key=False)


@pytest.mark.parametrize(("codec", "decoder"), CODECS)
def test_the_picture_is_good(codec: Codec, decoder: str) -> None:
    pictures = moving(20, 320, 180)
    shown = decode(decoder, encode(opened(codec, 320, 180), pictures))
    for source, seen in list(zip(pictures, shown, strict=True))[5:]:
        a, b = source.frame.to_ndarray()[:180], seen.to_ndarray()[:180]
        error = ((a.astype(float) - b.astype(float)) ** 2).mean()
        assert 10 * np.log10(255**2 / error) > 35


@pytest.mark.parametrize(("codec", "decoder"), CODECS)
def test_a_viewer_can_begin_at_any_key_frame(codec: Codec, decoder: str) -> None:
    made = encode(opened(codec, 64, 48), moving(8, 64, 48), 5)
    assert len(decode(decoder, made[5:])) == 3


def test_h264_is_constrained_baseline_with_its_headers_on_every_key_frame() -> None:
    made = encode(opened(Codec.H264, 64, 48), moving(4, 64, 48), 2)
    for each in (made[0], made[2]):
        at = each.bitstream.index(b"\x00\x00\x01\x67") + 4
        assert each.bitstream[at] == 66
        assert each.bitstream[at + 1] & 0xC0 == 0xC0
        assert b"\x00\x00\x01\x68" in each.bitstream
    assert b"\x00\x00\x01\x67" not in made[1].bitstream


@pytest.mark.parametrize("codec", [Codec.VP8, Codec.H264])
def test_the_bitrate_is_held_and_key_frames_are_bounded(codec: Codec) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (48, 180, 320, 3), dtype=np.uint8)
    made = encode(opened(codec, 320, 180, bitrate=1_000_000), PictureMaker().convert(noise), 40)
    bits = 8 * sum(len(each.bitstream) for each in made[24:])
    assert bits < 1_000_000 * 1.6
    assert len(made[40].bitstream) * 8 < 1_000_000 * 8 / 24
