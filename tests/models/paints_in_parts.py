"""Each rank paints its number into its part of the picture, in the way the state says."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.models.parts import Note

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


class Scene(Output):
    main_video: Video
    depth: Video
    voice: Audio


def paint(rank: int, frames: int = 2, height: int = 4, width: int = 6) -> NDArray[np.uint8]:
    return np.full((frames, height, width, 3), rank + 1, np.uint8)


def scene(video: Any = None, depth: Any = None, voice: Any = None) -> Scene:
    return Scene(main_video=video, depth=depth, voice=voice)


WAYS: dict[str, Callable[[int, int], list[Scene]]] = {
    "leader": lambda rank, size: [scene(paint(rank))],
    "frames": lambda rank, size: [scene(Shard(paint(rank)))],
    "height": lambda rank, size: [scene(Shard(paint(rank), axis="height"))],
    "width": lambda rank, size: [scene(Shard(paint(rank), axis="width"))],
    "picture": lambda rank, size: [scene(Shard(paint(rank)[0], axis="height"))],
    "last": lambda rank, size: (
        [scene(Shard(paint(rank, 6), start=0, of=6))] if rank == size - 1 else []
    ),
    "two_tracks": lambda rank, size: [scene(Shard(paint(rank)), Shard(paint(rank + 10)))],
    "two_outputs": lambda rank, size: [
        scene(Shard(paint(rank), axis="height")),
        scene(Shard(paint(rank + 10), axis="height")),
    ],
    "with_sound": lambda rank, size: [
        scene(
            TrackPayload(Shard(paint(rank)), metadata={"of": rank}),
            voice=np.full((1, 480), rank, np.int16),
        )
    ],
    "told": lambda rank, size: [
        scene(Shard(TrackPayload(paint(rank), metadata=[f"{rank} first", f"{rank} second"])))
    ],
    "told_by_last": lambda rank, size: (
        [scene(Shard(TrackPayload(paint(rank), metadata="last"), start=0, of=2))]
        if rank == size - 1
        else []
    ),
    "told_by_leader": lambda rank, size: [
        scene(Shard(TrackPayload(paint(rank), "all") if rank == 0 else paint(rank)))
    ],
    "gap": lambda rank, size: [scene(Shard(paint(rank), start=3 * rank, of=3 * size))],
    "half": lambda rank, size: (
        [scene(Shard(paint(rank), axis="height", start=0, of=8))] if rank == 0 else []
    ),
    "unequal": lambda rank, size: [scene(Shard(paint(rank, height=3 + rank), axis="height"))],
    "stray": lambda rank, size: [scene(paint(rank))] if rank else [],
    "shapes": lambda rank, size: [scene(Shard(paint(rank, width=6 + rank)))],
}


class PartsState(InputState):
    way: str = InputField(default="", choices=["", "flush", *WAYS])
    frames: int = 0  # of the leader's own, where not 0


class PaintsInParts(ReactorModel):
    state: PartsState
    scenes: Scene

    @event
    def who(self) -> Note:
        return Note(text=f"{self.rank} of {self.world_size}")

    async def generate(self, state: PartsState) -> None:
        way, state.way = state.way, ""
        frames, state.frames = state.frames, 0
        if way == "flush":
            await self.emit(scene(paint(self.rank)))
            self.output.flush()
            way = "height"
        if frames:
            await self.emit(scene(paint(self.rank, frames, 64, 64)))
        for each in WAYS[way](self.rank, self.world_size) if way else []:
            await self.emit(each)
            if way == "leader":
                each.main_video[:] = 99
