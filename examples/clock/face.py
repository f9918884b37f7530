"""The drawing of a clock face: distances to hands and ticks, numpy only."""

import math

import numpy as np
from numpy.typing import NDArray

INK = np.array([34, 40, 49], np.float32)
PAPER = np.array([238, 238, 232], np.float32)
RED = np.array([214, 64, 69], np.float32)


class Face:
    """A square clock face of a fixed size, ticks drawn once."""

    def __init__(self, side: int) -> None:
        span = np.linspace(-1.1, 1.1, side, dtype=np.float32)
        self._x, self._y = np.meshgrid(span, span)
        self._dial = np.broadcast_to(PAPER, (side, side, 3)).copy()
        radius = np.hypot(self._x, self._y)
        self._paint(self._dial, np.abs(radius - 1.0) - 0.015, INK)
        for tick in range(60):
            inner, width = (0.82, 0.018) if tick % 5 == 0 else (0.92, 0.008)
            self._hand(self._dial, tick / 60, inner, 0.97, width, INK)

    def draw(self, seconds: float, *, sweep: bool) -> NDArray[np.uint8]:
        """Return the face at *seconds* after midnight, (side, side, 3) uint8 RGB."""
        shown = seconds if sweep else math.floor(seconds)
        picture = self._dial.copy()
        self._hand(picture, seconds / 43_200, -0.1, 0.55, 0.035, INK)
        self._hand(picture, seconds / 3_600, -0.1, 0.8, 0.022, INK)
        self._hand(picture, shown / 60, -0.2, 0.88, 0.01, RED)
        return picture.astype(np.uint8)

    def _hand(
        self, picture: NDArray[np.float32], turn: float, start: float, end: float,
        width: float, color: NDArray[np.float32],
    ) -> None:  # fmt: skip
        angle = 2 * math.pi * turn
        dx, dy = math.sin(angle), -math.cos(angle)
        along = np.clip(self._x * dx + self._y * dy, start, end)
        self._paint(picture, np.hypot(self._x - along * dx, self._y - along * dy) - width, color)

    def _paint(
        self,
        picture: NDArray[np.float32],
        distance: NDArray[np.float32],
        color: NDArray[np.float32],
    ) -> None:
        cover = np.clip(0.5 - distance * self._x.shape[0] / 2.2, 0, 1)[..., None]
        picture += cover * (color - picture)
