"""What the model imports relatively."""

import numpy as np

from reactor_runtime import Output, Video


class WorldOutput(Output):
    main_video: Video


def paint(level):
    return WorldOutput(main_video=np.full((48, 64, 3), level, np.uint8))
