"""The picture every runtime under test serves: cheap to make, moving, machine readable.

A texture scrolled 4 px a frame, so that an encoder has work; a patch at the top left in the
commanded colour; a bar code along the bottom that holds the frame's number, one bit a cell.
"""

import numpy as np

COLORS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}
PATCH = 128
BITS = 16


class Pattern:
    def __init__(self, width: int = 1280, height: int = 720) -> None:
        self.width, self.height = width, height
        x = np.arange(2 * width)
        y = np.arange(height)[:, None]
        image = np.empty((height, 2 * width, 3), np.int16)
        wave = 2 * np.pi / width
        image[..., 0] = 128 + 100 * np.sin(3 * wave * x) * np.cos(2 * np.pi * y / height)
        image[..., 1] = 128 + 100 * np.sin(5 * wave * x + 4 * np.pi * y / height)
        image[..., 2] = y * 255 // height
        grain = np.random.default_rng(1).integers(-24, 25, (height // 8, width // 8, 1))
        grain = grain.repeat(8, 0).repeat(8, 1)
        image[: grain.shape[0]] += np.concatenate([grain, grain], 1).astype(np.int16)
        self.image = np.clip(image, 0, 255).astype(np.uint8)
        self.cell = width // BITS
        self.bar = max(16, height // 15)

    def frame(self, number: int, color: str) -> np.ndarray:
        offset = (4 * number) % self.width
        picture = self.image[:, offset : offset + self.width].copy()
        picture[:PATCH, :PATCH] = COLORS[color]
        for bit in range(BITS):
            cell = slice(bit * self.cell, (bit + 1) * self.cell)
            picture[self.height - self.bar :, cell] = 255 if (number >> bit) & 1 else 0
        return picture


def read_bgra(data: bytes, width: int, height: int) -> tuple[int, str]:
    """Return a decoded picture's number and its patch's colour."""

    def pixel(x: int, y: int) -> tuple[int, int, int]:
        at = (y * width + x) * 4
        return data[at + 2], data[at + 1], data[at]

    middle = int(PATCH * width / 1280 / 2)
    patch = pixel(middle, middle)
    color = "black" if max(patch) < 60 else list(COLORS)[max(range(3), key=patch.__getitem__)]
    cell, y = width / BITS, height - max(16, height // 15) // 2
    number = sum(1 << bit for bit in range(BITS) if sum(pixel(int((bit + 0.5) * cell), y)) > 384)
    return number, color
