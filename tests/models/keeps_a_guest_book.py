"""Writes down who came and went, and with what state each session began."""

import os
from pathlib import Path

import numpy as np

from reactor_runtime import (
    ClientInfo,
    InputState,
    Output,
    ReactorModel,
    Video,
    connected,
    disconnected,
    session_ended,
    session_started,
)


class GuestState(InputState):
    level: int = 0
    _visits: int = 0


class Picture(Output):
    main_video: Video


class KeepsAGuestBook(ReactorModel):
    """``GUEST_BOOK`` names the file; sessions cannot begin while the file ``BROKEN`` is there."""

    state: GuestState
    fps = 24

    def load(self, config_path: object) -> None:
        self.book = Path(os.environ["GUEST_BOOK"])
        self.broken = Path(os.environ["BROKEN"])

    def write(self, line: str) -> None:
        with self.book.open("a") as book:
            book.write(line + "\n")

    @session_started
    def begin(self) -> None:
        if self.broken.exists():
            raise ValueError("cannot begin")
        self.write(f"begin {self.state.level} {self.state._visits}")

    @connected
    def greet(self, client: ClientInfo) -> None:
        self.state._visits += 1
        self.write("come")

    @disconnected
    def see_off(self, client: ClientInfo) -> None:
        self.write("go")

    @session_ended
    def end(self) -> None:
        self.write("end")

    def generate(self, state: GuestState) -> Picture:
        return Picture(main_video=np.full((48, 64, 3), state.level % 256, np.uint8))
