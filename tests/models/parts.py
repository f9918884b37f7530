"""What most of these models share: a message, a picture, and the way to paint one."""

import numpy as np
from numpy.typing import NDArray

from reactor_runtime import ModelMessage, Output, Video


class Note(ModelMessage):
    text: str


class Picture(Output):
    main_video: Video


def flat(value: int, frames: int | None = None) -> NDArray[np.uint8]:
    """A small picture of one value, or a chunk of them."""
    shape = (4, 6, 3) if frames is None else (frames, 4, 6, 3)
    return np.full(shape, value % 256, np.uint8)
