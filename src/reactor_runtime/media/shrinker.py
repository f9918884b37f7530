"""Shrinker: the pictures of a track in the sizes of lower rungs, each made once."""

from av.video.reformatter import VideoReformatter

from reactor_runtime.media.picture import Picture, fit
from reactor_runtime.media.rung import Rung
from reactor_runtime.media.threads import threads_for

_SHORTEST_SIDE = 180  # a smaller picture saves few bits and shows little


class Shrinker:
    """Scales I420 pictures down. Used by one lane's thread."""

    def __init__(self) -> None:
        self._scaler = VideoReformatter()
        self._of: Picture | None = None
        self._made: dict[tuple[int, int], Picture] = {}

    def shrink(self, picture: Picture, rung: Rung) -> Picture:
        """Return *picture* in the size of *rung*: itself, where that is its own."""
        width, height = picture.size
        share = max(rung.side_share, min(1.0, _SHORTEST_SIDE / min(width, height)))
        if share == 1.0:
            return picture
        if picture is not self._of:
            self._of, self._made = picture, {}
        size = fit(width, height, round(width * share), round(height * share))
        if size not in self._made:
            self._made[size] = self._scale(picture, size)
        return self._made[size]

    def _scale(self, picture: Picture, size: tuple[int, int]) -> Picture:
        wide, high = size
        frame = self._scaler.reformat(
            picture.frame,
            width=wide,
            height=high,
            interpolation="AREA",
            threads=threads_for(wide * high),
        )
        return Picture(frame=frame, metadata=picture.metadata)
