"""How large a picture says it is, and that nobody is kept busy by a header."""

import struct
from pathlib import Path

import pytest

from reactor_runtime.uploads.picture_size import picture_size

W, H = 30_000, 20_000


def png(width: int, height: int) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
        + struct.pack(">II", width, height)
        + b"\x08\x02"
        + b"\0" * 40
    )


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    sof = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03" + b"\x01\x11\0" * 3
    return b"\xff\xd8" + before + sof + b"\xff\xd9"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 20


def bmp(width: int, height: int) -> bytes:
    return (
        b"BM" + b"\0" * 12 + struct.pack("<Iii", 40, width, height) + b"\x01\0\x18\0" + b"\0" * 24
    )


def webp(width: int, height: int) -> bytes:
    sides = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + sides + b"\0" * 16


def tiff(width: int, height: int) -> bytes:
    entries = b"".join(
        struct.pack("<HHII", tag, 4, 1, v) for tag, v in ((256, width), (257, height))
    )
    return b"II*\0\x08\0\0\0\x02\0" + entries + b"\0" * 16


@pytest.mark.parametrize("kind", [png, jpeg, gif, bmp, webp, tiff])
def test_the_header_tells(kind: object, tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(kind(W, H))  # type: ignore[operator]
    assert picture_size(path) == (W, H)


def test_a_gif_beyond_15_bits_is_as_large_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(gif(40_000, 50_000))
    assert picture_size(path) == (40_000, 50_000)


@pytest.mark.parametrize(
    "content",
    [b"", b"x", b"plain text", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"BM", b"P5\n#",
     b"RIFF", b"II*\0", b"\0\0\0\x18ftypheic" + b"\xff" * 100, b"<svg", bytes(range(256)) * 40],
)  # fmt: skip
def test_what_is_no_picture_has_no_size(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert picture_size(path) is None


@pytest.mark.parametrize(
    "content",
    [
        jpeg(W, H, b"\xff\xe1\x00\x02" * 1_000_000),
        b"P5\n#" + b"never ends " * 400_000,
    ],
    ids=["segments", "comment"],
)
def test_a_header_without_an_end_is_larger_than_any_picture(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    size = picture_size(path)
    assert size is not None
    assert size[0] * size[1] > 10**15


def test_a_jpeg_with_an_honest_preface_is_read(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(jpeg(W, H, (b"\xff\xe1\xff\xff" + b"\0" * 65533) * 30))
    assert picture_size(path) == (W, H)
