"""The work of a picture, row by row; run as a program, how often it is done in a while.

    python painting.py RANK WORLD_SIZE SECONDS

Environment: BENCH_ROUNDS (how much work a picture is).
"""

import os
import sys
import time

import numpy as np

WIDTH, HEIGHT = 320, 176
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "240"))
_BLOCK = 22  # rows whose numbers stay in a core's own cache


def paint(rows: slice, number: int) -> np.ndarray:
    """Return rows of picture *number*, ``(rows, WIDTH, 3)``; one thread, without the GIL."""
    picture = np.empty((rows.stop - rows.start, WIDTH, 3), np.uint8)
    for top in range(rows.start, rows.stop, _BLOCK):
        block = slice(top, min(top + _BLOCK, rows.stop))
        y, x = np.mgrid[block, 0:WIDTH].astype(np.float64)
        value = x / 40 + y / 30 + number / 20
        for _ in range(ROUNDS):
            np.sin(value, out=value)
            value += x / 40
        shade = (127.5 + 127.5 * np.sin(value)).astype(np.uint8)
        picture[block.start - rows.start : block.stop - rows.start] = shade[..., None]
    return picture


def main() -> None:
    rank, world_size, seconds = (float(word) for word in sys.argv[1:])
    ends = [int(HEIGHT * place // world_size) for place in (rank, rank + 1)]
    until, done = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        paint(slice(*ends), done)
        done += 1
    print(done / seconds)


if __name__ == "__main__":
    main()
