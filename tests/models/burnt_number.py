"""A number in a picture that survives an encoder: 16 black or white squares in its first row."""

import numpy as np
from numpy.typing import NDArray

SIDE = 20
WIDTH, HEIGHT = 16 * SIDE, 120
RANGE = 1 << 16


def burn(picture: NDArray[np.uint8], number: int) -> None:
    """Write *number*, modulo ``RANGE``, into *picture*."""
    for bit in range(16):
        picture[:SIDE, bit * SIDE : (bit + 1) * SIDE] = 255 * (number >> bit & 1)


def read_number(picture: NDArray[np.uint8]) -> int:
    """Return the number in *picture*."""
    middle = SIDE // 4
    squares = picture[middle:-middle][: SIDE // 2].reshape(SIDE // 2, 16, SIDE, -1)
    levels = squares[:, :, middle:-middle].mean(axis=(0, 2, 3))
    return int(((levels > 127) << np.arange(16)).sum())


def age(now: int, number: int) -> int:
    """Return how far *number* lies behind *now*, where both have come round."""
    return (now - number + RANGE // 2) % RANGE - RANGE // 2
