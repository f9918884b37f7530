import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from reactor_runtime.errors import BufferClosed
from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.pipeline import GeneratorBody, ReactorPipeline


class State(InputState):
    level: int = 1


class Counts(ReactorPipeline):
    state: State

    def __init__(self, start: int = 0) -> None:
        self.start, self.closed = start, 0

    def inference(self) -> Iterator[Any]:
        try:
            yield self.start
            yield self.start + 1
        finally:
            self.closed += 1


class CountsLater(Counts):
    async def inference(self) -> AsyncIterator[Any]:  # type: ignore[override]
        try:
            for number in (self.start, self.start + 1):
                await asyncio.sleep(0)
                yield number
        finally:
            await asyncio.sleep(0)
            self.closed += 1


def test_a_pipeline_needs_a_state() -> None:
    class Stateless(ReactorPipeline):
        def inference(self) -> Iterator[Any]:
            yield None

    with pytest.raises(TypeError, match="Stateless needs an annotation `state: MyState`"):
        Stateless()


def test_arguments_of_the_constructor_are_the_authors() -> None:
    assert Counts(5).start == 5
    assert Counts(start=6).start == 6


@pytest.mark.parametrize("kind", [Counts, CountsLater])
async def test_a_generator_is_advanced_closed_and_started_again(kind: type[Counts]) -> None:
    model = kind(7)
    body = GeneratorBody(model)
    assert [await body.advance() for _ in range(4)] == [7, 8, None, 7]
    assert model.closed == 1
    await body.close()
    await body.close()
    assert model.closed == 2
    assert await body.advance() == 7
    await body.close()


async def test_closed_input_ends_a_generator_normally() -> None:
    class Reads(Counts):
        def inference(self) -> Iterator[Any]:
            yield 1
            raise BufferClosed("mic")

    body = GeneratorBody(Reads())
    assert [await body.advance() for _ in range(3)] == [1, None, 1]
    await body.close()


async def test_what_is_no_generator_is_named() -> None:
    class Returns(Counts):
        def inference(self) -> Any:
            return [1, 2]

    with pytest.raises(TypeError, match=r"Returns.inference\(\) must be a generator.*list"):
        await GeneratorBody(Returns()).advance()
