"""What most adapters show: one grey, which survives an encoder."""

import numpy as np
from numpy.typing import NDArray

from reactor_runtime import Output, Video


class Picture(Output):
    main_video: Video


def grey(value: int, frames: int | None = None) -> NDArray[np.uint8]:
    """A picture of one grey, or a chunk of them."""
    shape = (48, 64, 3) if frames is None else (frames, 48, 64, 3)
    return np.full(shape, value, np.uint8)
