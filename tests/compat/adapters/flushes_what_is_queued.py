"""Chunks of a second; a command throws away what has not been shown."""

from collections.abc import Iterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, ReactorPipeline, event


class SceneState(InputState):
    scene: int = 60


class FlushesWhatIsQueued(ReactorPipeline):
    state: SceneState
    fps = 20

    @event
    def cut(self, scene: int) -> None:
        self.state.scene = scene
        self.output.flush()

    def inference(self) -> Iterator[Picture]:
        while True:
            yield Picture(main_video=grey(self.state.scene, frames=20))
