"""Canvas: pictures of any size, drawn into one frame of a fixed size.

A file has one size. A picture that has it is copied; another keeps its shape between black bars.
"""

from typing import Any

import av
from av.video.reformatter import VideoReformatter

from reactor_runtime.media.picture import Picture, as_rows, fill_black, pad_to_even

Size = tuple[int, int]


class Canvas:
    """One I420 frame, drawn over and over. Not for two threads at a time.

    Args:
        size: Width and height in pixels, both even.
    """

    def __init__(self, size: Size) -> None:
        self._size = size
        self._frame = av.VideoFrame(*size, "yuv420p")
        self._drawn: Size | None = None
        self._scaler = VideoReformatter()

    def draw(self, picture: Picture) -> Any:
        """Return the canvas with *picture* on it; the next call draws over it.

        Only the pixels of *picture* are read: its frame may be in use on another thread.
        """
        source = pad_to_even(picture)
        if source.size == self._size:
            _copy(source.frame, self._frame, (0, 0))
        else:
            self._draw_scaled(source)
        self._drawn = source.size
        return self._frame

    def _draw_scaled(self, source: Picture) -> None:
        own = av.VideoFrame(*source.size, "yuv420p")
        _copy(source.frame, own, (0, 0))
        width, height = _inside(source.size, self._size)
        scaled = self._scaler.reformat(own, width=width, height=height, format="yuv420p")
        if self._drawn != source.size:
            fill_black(self._frame)
        # Even, as the chroma planes have half of each.
        corner = (self._size[0] - width) // 4 * 2, (self._size[1] - height) // 4 * 2
        _copy(scaled, self._frame, corner)


def even(size: Size) -> Size:
    """Return *size* with odd sides one larger, as codecs want them."""
    return size[0] + size[0] % 2, size[1] + size[1] % 2


def _inside(size: Size, limit: Size) -> Size:
    """Return the largest even size within *limit* that has the shape of *size*."""
    ratio = min(limit[0] / size[0], limit[1] / size[1])
    width, height = (max(2, round(side * ratio / 2) * 2) for side in size)
    return min(width, limit[0]), min(height, limit[1])


def _copy(source: Any, target: Any, corner: Size) -> None:
    for index, (plane, into) in enumerate(zip(source.planes, target.planes, strict=True)):
        rows, share = as_rows(plane), 2 if index else 1
        x, y = corner[0] // share, corner[1] // share
        as_rows(into)[y : y + rows.shape[0], x : x + rows.shape[1]] = rows
