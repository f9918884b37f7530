"""Bodies that cannot run: written as something else than what they are called as."""

from typing import Any

from reactor_runtime import InputState, ReactorModel, ReactorPipeline


class State(InputState):
    level: int = 0


class SyncRun(ReactorModel):
    def run(self) -> Any:
        return None


class YieldingRun(ReactorModel):
    async def run(self) -> Any:
        yield 1


class CoroutineInference(ReactorPipeline):
    state: State

    async def inference(self) -> Any:
        return 1


class PlainInference(ReactorPipeline):
    state: State

    def inference(self) -> Any:
        return 1
