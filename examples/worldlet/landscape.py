"""A height map made from a text, drawn in perspective: numpy only, about 10 ms a frame."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SIDE = 1024  # the map is a torus of SIDE x SIDE cells
DEPTHS = 160  # slices from near to far

# Each palette: sky at the horizon, sky above, then ground from low to high.
PALETTES: dict[str, list[tuple[int, int, int]]] = {
    "meadow": [
        (214, 228, 240),
        (88, 150, 220),
        (36, 84, 120),
        (92, 140, 70),
        (140, 160, 90),
        (240, 240, 235),
    ],
    "desert": [
        (250, 214, 170),
        (120, 150, 200),
        (150, 96, 60),
        (206, 148, 88),
        (226, 180, 120),
        (250, 226, 190),
    ],
    "arctic": [
        (226, 236, 246),
        (130, 170, 214),
        (40, 70, 110),
        (150, 180, 204),
        (214, 226, 238),
        (255, 255, 255),
    ],
    "neon": [
        (255, 90, 180),
        (30, 10, 70),
        (10, 20, 60),
        (40, 30, 140),
        (150, 40, 190),
        (80, 240, 250),
    ],
}


@dataclass(frozen=True, slots=True)
class Camera:
    """Where the viewer is and looks: cells, radians, and height above the ground in cells."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0
    altitude: float = 60.0


def make_heights(text: str) -> NDArray[np.float32]:
    """Return a seamless (SIDE, SIDE) height map in [0, 1], the same for the same text."""
    digest = hashlib.sha256(text.encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    spectrum = np.fft.rfft2(rng.standard_normal((SIDE, SIDE)))
    fy = np.fft.fftfreq(SIDE)[:, None] * SIDE
    fx = np.fft.rfftfreq(SIDE)[None, :] * SIDE
    spectrum /= np.maximum(1.0, np.hypot(fy, fx)) ** 2.1
    heights = np.fft.irfft2(spectrum, s=(SIDE, SIDE))
    low, high = np.percentile(heights, (0.1, 99.9))
    return np.clip((heights - low) / (high - low), 0, 1).astype(np.float32)


def make_colors(heights: NDArray[np.float32], palette: str) -> NDArray[np.float32]:
    """Return (SIDE, SIDE, 3) ground colours, lit from the west."""
    stops = np.array(PALETTES[palette][2:], np.float32)
    ground = np.linspace(0, 1, len(stops))
    colors = np.stack([np.interp(heights, ground, stops[:, c]) for c in range(3)], axis=-1)
    slope = np.roll(heights, 1, axis=1) - heights
    return (colors * np.clip(1.0 + 26.0 * slope, 0.45, 1.5)[..., None]).astype(np.float32)


class Landscape:
    """One world: its height map and colours, and the drawing of a view of it."""

    def __init__(self, text: str, palette: str, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.heights = make_heights(text)
        self.recolor(palette)
        near_to_far = np.linspace(0, 1, DEPTHS, dtype=np.float32) ** 1.8
        self._distance = 6 + near_to_far * (SIDE * 0.6)
        self._columns = np.linspace(-0.75, 0.75, width, dtype=np.float32)

    def recolor(self, palette: str) -> None:
        """Dress the same heights in another palette."""
        self.colors = make_colors(self.heights, palette)
        self._horizon, self._zenith = (np.array(c, np.float32) for c in PALETTES[palette][:2])

    def height_at(self, x: float, y: float) -> float:
        """Return the ground's height in [0, 1] under a point."""
        return float(self.heights[int(y) % SIDE, int(x) % SIDE])

    def draw(self, camera: Camera, *, sun: float, fog: float) -> NDArray[np.uint8]:
        """Return one (height, width, 3) uint8 RGB picture.

        Args:
            camera: Where to look from.
            sun: Brightness, 0 (night) to 1 (noon).
            fog: 0 (clear) to 1 (thick).
        """
        top, shade = self._project(camera, fog)
        sky = self._draw_sky()
        # For every pixel, the first slice (near to far) whose skyline reaches its row.
        columns = np.arange(self.width)
        hits = np.bincount(
            (top * self.width + columns).ravel(), minlength=(self.height + 1) * self.width
        ).reshape(self.height + 1, self.width)
        behind = np.cumsum(hits[::-1], axis=0)[::-1][1:]  # slices that end below the row
        picture = np.where(
            (behind < DEPTHS)[..., None],
            shade[np.minimum(behind, DEPTHS - 1), columns],
            sky,
        )
        return (picture * (0.18 + 0.82 * sun)).astype(np.uint8)

    def _project(self, camera: Camera, fog: float) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return each slice's highest row so far, (DEPTHS, W), and its colours, (DEPTHS, W, 3)."""
        angle = camera.heading + self._columns
        x = (camera.x + np.cos(angle)[None, :] * self._distance[:, None]).astype(np.int64) % SIDE
        y = (camera.y + np.sin(angle)[None, :] * self._distance[:, None]).astype(np.int64) % SIDE
        eye = 200.0 * self.height_at(camera.x, camera.y) + camera.altitude
        drop = (eye - 200.0 * self.heights[y, x]) / self._distance[:, None]
        row = np.clip(self.height * (0.38 + 0.9 * drop), 0, self.height).astype(np.int64)
        mist = np.clip((self._distance / self._distance[-1]) ** (3.0 - 2.4 * fog), 0, 1)
        mist = mist[:, None, None]
        shade = self.colors[y, x] * (1 - mist) + self._horizon * mist
        return np.minimum.accumulate(row, axis=0), shade.astype(np.float32)

    def _draw_sky(self) -> NDArray[np.float32]:
        up = np.clip(np.linspace(1, -0.9, self.height, dtype=np.float32), 0, 1)[:, None, None]
        return self._horizon * (1 - up) + self._zenith * up
