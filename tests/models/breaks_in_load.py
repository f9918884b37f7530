"""A model that does not survive ``load``, in the way ``BREAK`` says, on rank ``BREAK_RANK``."""

import os
import signal
import time

import numpy as np

from reactor_runtime import Output, ReactorModel, Video


class Picture(Output):
    main_video: Video


class BreaksInLoad(ReactorModel):
    def load(self, config_path: object) -> None:
        how = os.environ.get("BREAK", "")
        if os.environ.get("BREAK_RANK", str(self.rank)) != str(self.rank):
            return
        if how == "raise":
            raise ValueError("the weights\nare bad")
        if how == "exit":
            os._exit(3)
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "sleep":
            time.sleep(60)

    def generate(self, input: object) -> Picture:
        return Picture(main_video=np.zeros((16, 16, 3), np.uint8))
