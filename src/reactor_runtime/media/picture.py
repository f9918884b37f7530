"""Picture: one frame as the encoders take it, and the one conversion that makes it.

    author's array, RGB (T, H, W, 3)  ──►  I420 frames of our own: the only copy of a pixel

FFmpeg's scaler does it outside the GIL, shrinking to the limits in the same pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from reactor_runtime.media.threads import threads_for

LARGEST_SIDE = 16383  # of VP8
LARGEST_AREA = 2**27  # pixels; FFmpeg refuses to make a frame of twice that
_LUMA_BLACK, _CHROMA_GREY = 16, 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One frame in I420, and what its author said about it.

    Attributes:
        frame: An ``av.VideoFrame``; only the thread of its track may touch it. Its pixels are never
            written again, so that any thread may read them.
        metadata: The author's metadata, if any.
    """

    frame: Any
    metadata: Any = field(default=None, compare=False)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.frame.width, self.frame.height


class PictureMaker:
    """Converts the arrays of one track. Not for two threads at a time.

    Args:
        max_width: Pixels, ``None`` for no limit but the codec's.
        max_height: Pixels, ``None`` for no limit but the codec's.
    """

    def __init__(self, *, max_width: int | None = None, max_height: int | None = None) -> None:
        self._max_width = min(max_width or LARGEST_SIDE, LARGEST_SIDE)
        self._max_height = min(max_height or LARGEST_SIDE, LARGEST_SIDE)
        self._scaler = VideoReformatter()

    def convert(self, frames: NDArray[np.uint8], metadata: Sequence[Any] = ()) -> list[Picture]:
        """Return the pictures of *frames*, ``(T, H, W, 3)``, in memory of their own."""
        return [
            Picture(
                frame=self._to_i420(rgb),
                metadata=metadata[index] if index < len(metadata) else None,
            )
            for index, rgb in enumerate(frames)
        ]

    def _to_i420(self, rgb: NDArray[np.uint8]) -> Any:
        height, width = rgb.shape[:2]
        wide, high = fit(width, height, self._max_width, self._max_height)
        return self._scaler.reformat(
            av.VideoFrame.from_numpy_buffer(in_rows(rgb), format="rgb24"),
            width=wide,
            height=high,
            format="yuv420p",
            interpolation="AREA",  # as fast as the fast ones where nothing shrinks, and exact
            threads=threads_for(width * height),
        )


def fit(width: int, height: int, max_width: int, max_height: int) -> tuple[int, int]:
    """Return the size within the limits that keeps the shape, even where it had to shrink."""
    ratio = min(1.0, max_width / width, max_height / height, sqrt(LARGEST_AREA / (width * height)))
    if ratio == 1.0:
        return width, height
    return _even(width * ratio, max_width), _even(height * ratio, max_height)


def _even(side: float, limit: int) -> int:
    return max(2, min(round(side / 2), limit // 2) * 2)


def in_rows(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return *rgb* itself if its pixels lie in rows FFmpeg can read, else a copy that does."""
    height, width = rgb.shape[:2]
    row, pixel, channel = rgb.strides
    readable = channel == 1 and pixel == 3 and (row >= 3 * width or height == 1)
    return rgb if readable else np.ascontiguousarray(rgb)


def make_black(width: int, height: int) -> Picture:
    """Return a black picture."""
    frame = av.VideoFrame(width, height, "yuv420p")
    fill_black(frame)
    return Picture(frame=frame)


def fill_black(frame: Any) -> None:
    """Make every pixel of an I420 *frame* black."""
    for plane, value in zip(frame.planes, (_LUMA_BLACK, _CHROMA_GREY, _CHROMA_GREY), strict=True):
        plane.update(bytes([value]) * plane.buffer_size)


def pad_to_even(picture: Picture) -> Picture:
    """Return *picture*, its last column and row repeated where a side is odd."""
    width, height = picture.size
    wide, high = width + width % 2, height + height % 2
    if (wide, high) == (width, height):
        return picture
    padded = av.VideoFrame(wide, high, "yuv420p")
    for index, (source, target) in enumerate(zip(picture.frame.planes, padded.planes, strict=True)):
        into, rows = as_rows(target), as_rows(source)
        into[: source.height, : source.width] = rows
        if index == 0:
            into[:, width:] = into[:, width - 1 : width]
            into[height:, :] = into[height - 1 : height, :]
    return Picture(frame=padded, metadata=picture.metadata)


def as_rows(plane: Any) -> NDArray[np.uint8]:
    """Return the pixels of a plane, without the padding of its lines."""
    lines = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
    return lines[: plane.height, : plane.width]
