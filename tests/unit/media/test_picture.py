from typing import Any

import numpy as np
import pytest

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.picture import (
    LARGEST_AREA,
    PictureMaker,
    as_rows,
    fit,
    make_black,
    pad_to_even,
)
from reactor_runtime.media.video_encoder import VideoEncoder, VideoFormat

SIZES = [(64, 48), (1, 1), (3, 5), (641, 361), (17, 16), (16, 17)]


def gradient(width: int, height: int) -> Any:
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 255 // max(1, width), y * 255 // max(1, height), x * 0 + 60], -1).astype(
        np.uint8
    )


def psnr(a: Any, b: Any) -> float:
    error = ((a.astype(float) - b.astype(float)) ** 2).mean()
    return float(10 * np.log10(255**2 / max(error, 1e-9)))


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_picture_is_its_array(width: int, height: int) -> None:
    rgb = gradient(width, height)
    (picture,) = PictureMaker().convert(rgb[None])
    assert picture.size == (width, height)
    assert picture.frame.format.name == "yuv420p"
    if width > 60:
        assert psnr(picture.frame.to_ndarray(format="rgb24"), rgb) > 35


def test_brightness_is_what_the_standard_says() -> None:
    noise = np.random.default_rng(5).normal(0, 12, (360, 640, 3))
    rgb = np.clip(gradient(640, 360) + noise, 0, 255).astype(np.uint8)
    (picture,) = PictureMaker().convert(rgb[None])
    luma = 16 + rgb @ np.array([65.481, 128.553, 24.966]) / 255  # BT.601
    assert psnr(as_rows(picture.frame.planes[0]), luma) > 55


@pytest.mark.parametrize(("width", "height"), [(20_000, 4), (4, 20_000)])
@pytest.mark.parametrize("codec", [Codec.VP8, Codec.H264])
def test_a_picture_that_no_codec_takes_is_shrunk(codec: Codec, width: int, height: int) -> None:
    (picture,) = PictureMaker().convert(np.zeros((1, height, width, 3), np.uint8))
    assert picture.size == ((16382, 4) if width > height else (4, 16382))
    wide, high = picture.size
    wanted = VideoFormat(width=wide, height=high, fps=24, bitrate=150_000, threads=1)
    assert VideoEncoder(codec, wanted).encode(picture, 0, key=True).is_key


@pytest.mark.parametrize(
    "shape_it",
    [
        lambda a: a[:, ::-1],
        lambda a: a[::-1],
        lambda a: a[..., ::-1][..., ::-1],
        lambda a: np.ascontiguousarray(a.transpose(2, 0, 1)).transpose(1, 2, 0),
        lambda a: np.pad(a, ((2, 2), (3, 5), (0, 0)))[2:-2, 3:-5],
        lambda a: np.broadcast_to(a[:1], a.shape),
        lambda a: np.broadcast_to(a[:, :1], a.shape),
        lambda a: np.repeat(a, 2, 1)[:, ::2],
    ],
    ids=["mirrored", "flipped", "turned", "planar", "cropped", "row", "column", "strided"],
)
def test_any_memory_layout_works_read_only_too(shape_it: Any) -> None:
    rgb = shape_it(gradient(96, 64))
    rgb.flags.writeable = False
    (picture,) = PictureMaker().convert(rgb[None])
    assert psnr(picture.frame.to_ndarray(format="rgb24"), rgb) > 35


def test_the_author_may_overwrite_the_array() -> None:
    rgb = gradient(64, 48)
    kept = rgb.copy()
    (picture,) = PictureMaker().convert(rgb[None])
    rgb[:] = 0
    assert psnr(picture.frame.to_ndarray(format="rgb24"), kept) > 35


def test_each_frame_has_its_metadata() -> None:
    pictures = PictureMaker().convert(np.zeros((3, 4, 4, 3), np.uint8), ("a", None, "c"))
    assert [each.metadata for each in pictures] == ["a", None, "c"]
    assert PictureMaker().convert(np.zeros((1, 4, 4, 3), np.uint8))[0].metadata is None


def test_large_pictures_shrink_to_the_limits_and_keep_their_shape() -> None:
    maker = PictureMaker(max_width=320, max_height=320)
    (picture,) = maker.convert(gradient(1280, 720)[None])
    assert picture.size == (320, 180)
    assert psnr(picture.frame.to_ndarray(format="rgb24"), gradient(320, 180)) > 30
    assert maker.convert(gradient(301, 99)[None])[0].size == (301, 99)


@pytest.mark.parametrize(
    ("size", "limits", "wanted"),
    [
        ((1280, 720), (1280, 16383), (1280, 720)),
        ((1281, 721), (16383, 720), (1280, 720)),
        ((720, 1280), (16383, 640), (360, 640)),
        ((4000, 2), (100, 16383), (100, 2)),
    ],
)
def test_fitting(size: Any, limits: Any, wanted: Any) -> None:
    assert fit(*size, *limits) == wanted


def test_no_picture_is_larger_than_ffmpeg_makes_frames() -> None:
    width, height = fit(20_000, 19_000, 16_383, 16_383)
    assert width * height == pytest.approx(LARGEST_AREA, rel=0.001)
    assert width / height == pytest.approx(20 / 19, rel=0.001)
    assert make_black(width, height).size == (width, height)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_black_is_black(width: int, height: int) -> None:
    black = make_black(width, height)
    assert black.size == (width, height)
    assert black.frame.to_ndarray(format="rgb24").max() <= 1


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_padding_repeats_the_edge(width: int, height: int) -> None:
    (picture,) = PictureMaker().convert(gradient(width, height)[None], ("note",))
    padded = pad_to_even(picture)
    wide, high = padded.size
    assert (wide % 2, high % 2) == (0, 0)
    assert padded.metadata == "note"
    luma, before = as_rows(padded.frame.planes[0]), as_rows(picture.frame.planes[0])
    assert (luma[:height, :width] == before).all()
    assert (luma[:height, wide - 1] == before[:, width - 1]).all()
    assert (luma[high - 1, :width] == before[height - 1]).all()
