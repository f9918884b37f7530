"""Payloads with metadata: one value for a chunk, and one for each frame."""

from collections.abc import Iterator

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, Metadata, ReactorPipeline, TrackPayload


class PlainState(InputState):
    pass


class AnnotatesFrames(ReactorPipeline):
    state: PlainState
    fps = 20

    def inference(self) -> Iterator[Picture]:
        assert Metadata is not None
        while True:
            yield Picture(main_video=TrackPayload(grey(55, frames=2), metadata={"scene": 1}))
            yield Picture(
                main_video=TrackPayload(grey(65, frames=2), metadata=[{"n": 0}, {"n": 1}])
            )
