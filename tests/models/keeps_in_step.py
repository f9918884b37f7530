"""Writes down, on every rank, everything it is told and everything it draws at random."""

import hashlib
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
from tests.models.parts import Note, Picture, flat

from reactor_runtime import (
    ClientInfo,
    CommandError,
    InputField,
    InputState,
    MediaInput,
    ReactorModel,
    UploadedFile,
    Video,
    connected,
    disconnected,
    event,
    file_uploaded,
    session_ended,
    session_started,
)
from reactor_runtime.model.turn import Turn


class Sources(MediaInput):
    camera: Video


class StepState(InputState):
    level: int = InputField(default=0, ge=0, le=255)
    _words: tuple[str, ...] = ()


class KeepsInStep(ReactorModel):
    state: StepState
    eyes: Sources

    def load(self, config_path: Path | None) -> None:
        assert config_path is not None
        self.log = (config_path / f"rank{self.rank}.log").open("w", buffering=1 << 16)
        self.diverges_at = int(os.environ.get("DIVERGE_AT", "-1"))

    def note(self, *words: object) -> None:
        print(*words, file=self.log)

    @session_started
    def begin(self) -> None:
        self.note("started", self.seed, hash("text"))

    @session_ended
    def end(self) -> None:
        self.note("ended")
        self.log.flush()

    @connected
    def came(self, client: ClientInfo) -> None:
        self.note("came", client.id, client.joined_at)

    @disconnected
    def left(self, client: ClientInfo) -> None:
        self.note("left", client.id)

    @file_uploaded
    def arrived(self, file: UploadedFile) -> None:
        self.note("file", file.name, hashlib.sha256(file.data).hexdigest())

    @event
    def say(self, text: str, client: ClientInfo) -> Note:
        self.state._words = (*self.state._words[-3:], text)
        self.note("say", text, client.id)
        return Note(text=text)

    @event
    def refuse(self, code: str) -> None:
        self.note("refuse", code)
        raise CommandError(code)

    @event
    def fail(self) -> None:
        self.note("fail")
        raise ValueError("alike on all ranks")

    async def run(self) -> None:
        async for turn in self.turns():
            await self.emit(Picture(main_video=flat(self.look(turn))))

    def look(self, turn: Turn) -> int:
        seen: Any = self.eyes.camera.try_read()
        drawn = (random.random(), float(np.random.random()), set("abcdefg").pop())
        state = f"{self.state.level} {self.state._words}"
        self.note("turn", turn.number, turn.time_s, drawn, state, seen and seen[0].data.sum())
        if turn.number == self.diverges_at and not self.is_leader:
            self.state.level = 255 - self.state.level
        return self.state.level
