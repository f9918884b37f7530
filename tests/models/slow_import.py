"""A model whose module takes long to import, holding the interpreter lock for parts of it."""

import os
import time

import numpy as np

from reactor_runtime import Output, ReactorModel, Video

_deadline = time.monotonic() + float(os.environ.get("IMPORT_S", "1"))
while time.monotonic() < _deadline:
    pass


class Picture(Output):
    main_video: Video


class SlowImport(ReactorModel):
    def generate(self, input: object) -> Picture:
        return Picture(main_video=np.zeros((16, 16, 3), np.uint8))
