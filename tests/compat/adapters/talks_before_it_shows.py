"""Says with each picture what is on it, before it is there."""

from tests.compat.adapters.paint import Picture, grey

from reactor_runtime import InputState, MessageField, ModelMessage, ReactorPipeline


class Caption(ModelMessage):
    grey: int = MessageField(default=0, description="What the next picture is")
    more: dict[str, list[int]] = MessageField(description="Anything")


class CaptionState(InputState):
    pass


class TalksBeforeItShows(ReactorPipeline):
    state: CaptionState
    fps = 10

    async def inference(self):  # type: ignore[no-untyped-def]  # as authors write
        while True:
            for level in (40, 120, 200):
                await self.send(Caption(grey=level, more={"all": [level]}))
                yield Picture(main_video=grey(level))
