"""A model that writes down which hooks ran, and misbehaves when told to by the environment."""

import os
import sys
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

    def load(self, config_path: object) -> None:
        """Do to the standard streams what ``STREAMS`` says."""
        how = os.environ.get("STREAMS")
        if how == "closed":
            sys.stdout.close()
            sys.stderr.close()
        elif how == "none":
            sys.stdout = sys.stderr = None
        elif how == "unread":
            ends = [os.pipe(), os.pipe()]
            for stream, (read_end, write_end) in zip((1, 2), ends, strict=True):
                os.close(read_end)
                os.dup2(write_end, stream)

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
