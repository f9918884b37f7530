"""A model that writes down which hooks ran, and misbehaves when told to by the environment."""

import os
import time
from pathlib import Path

import numpy as np

from reactor_runtime import Output, ReactorModel, Video, session_ended, session_started


def note(line: str) -> None:
    with Path(os.environ["DIARY"]).open("a") as diary:
        diary.write(line + "\n")


class Picture(Output):
    main_video: Video


class KeepsADiary(ReactorModel):
    fps = 10

    @session_started
    def begin(self) -> None:
        note("started")
        self.steps = 0
        if os.environ.get("BREAK") == "stick":
            time.sleep(60)

    @session_ended
    def end(self) -> None:
        note("ended")

    def generate(self, input: object) -> Picture:
        self.steps += 1
        if self.steps == 5 and os.environ.get("BREAK") == "step":
            raise ValueError("cannot step")
        if self.steps == 5 and os.environ.get("BREAK") == "stick_in_step":
            note("stuck")
            time.sleep(60)
        return Picture(main_video=np.zeros((16, 16, 3), np.uint8))
