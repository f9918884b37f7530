"""The escape hatch: a model in one process that drives a worker group of its own by hand."""

from typing import Any

from reactor_runtime import (
    InputField,
    InputState,
    Output,
    ReactorModel,
    Video,
    session_ended,
    session_started,
)
from reactor_runtime.experimental import DistributedWorker, WorkerGroup

COLORS = {"red": (220, 30, 30), "green": (30, 200, 30), "blue": (30, 30, 220)}
SHAPE = (2, 360, 640, 3)


class Bands(DistributedWorker):
    """Each rank paints its own band of every frame."""

    def setup(self, height: int) -> None:
        each = height // self.world_size
        self.band = slice(self.rank * each, (self.rank + 1) * each)

    def generate_chunk(self, index: int, controls: dict[str, Any]) -> int:
        self.frames.array()[:, self.band] = COLORS[controls["prompt"]]
        return SHAPE[0]


class BandState(InputState):
    prompt: str = InputField(default="red", choices=[*COLORS])


class BandOutput(Output):
    main_video: Video


class DrivesItsOwnGroup(ReactorModel):
    state: BandState
    fps = 24

    def load(self, config_path: Any) -> None:
        kwargs = {"height": SHAPE[1]}
        self.group = WorkerGroup(
            Bands, frame_shape=SHAPE, setup_kwargs=kwargs, init_process_group=False
        )
        self.group.start()
        print("ranks:", *self.group.pids, flush=True)  # noqa: T201

    @session_started
    def begin(self) -> None:
        self.group.start_session({}, seed=self.seed)

    @session_ended
    def end(self) -> None:
        self.group.end_session()

    async def run(self) -> None:
        async for turn in self.turns():
            chunk = self.group.generate(turn.number, {"prompt": self.state.prompt})
            await self.emit(BandOutput(main_video=chunk))
