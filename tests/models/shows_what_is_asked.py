"""Shows, once per command, an output of the kind asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.models.parts import flat

from reactor_runtime import (
    Audio,
    InputField,
    InputState,
    Output,
    ReactorModel,
    Shard,
    TrackPayload,
    Video,
    event,
)


class Voice(Audio):
    sample_rate = 16_000


class Both(Output):
    main_video: Video
    voice: Voice


class Strange(Output):
    unknown: Video


def both(video: Any, voice: Any = None) -> Both:
    return Both(main_video=video, voice=voice)


KINDS: dict[str, Callable[[], Output]] = {
    "frame": lambda: both(flat(5)),
    "chunk": lambda: both(flat(6, frames=3)),
    "float_first": lambda: both(np.full((3, 4, 6), 0.5, np.float32)),
    "sound": lambda: both(None, np.full((1, 160), 0.5, np.float32)),
    "both": lambda: both(flat(7, frames=2), np.zeros((2, 320), np.int16)),
    "shard": lambda: both(Shard(flat(8, frames=2), start=0, of=2)),
    "told": lambda: both(TrackPayload(flat(9, frames=2), metadata=["a", "b"])),
    "told_once": lambda: both(TrackPayload(flat(9, frames=2), metadata={"x": 1})),
    "told_of_sound": lambda: both(
        TrackPayload(flat(9, frames=2), metadata=["a", "b"]),
        TrackPayload(np.zeros((1, 320), np.int16), metadata=["of", "it"]),
    ),
    "empty": lambda: both(None, np.zeros((1, 0), np.int16)),
    "gray": lambda: both(np.zeros((4, 6), np.uint8)),
    "lopsided": lambda: both(TrackPayload(flat(9, frames=2), metadata=["a"])),
    "shared_sound": lambda: both(flat(9), Shard(np.zeros((1, 320), np.int16))),
    "strange": lambda: Strange(unknown=flat(1)),
}


class ShowState(InputState):
    _kind: str = ""


class ShowsWhatIsAsked(ReactorModel):
    state: ShowState
    outputs: Both

    @event
    def show(self, kind: str = InputField(choices=[*KINDS])) -> None:
        self.state._kind = kind

    def generate(self, state: ShowState) -> Output | None:
        kind, state._kind = state._kind, ""
        return KINDS[kind]() if kind else None
