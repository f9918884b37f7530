"""ReactorPipeline: a model whose body is a generator."""

import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from typing import Any, ClassVar, Self

from reactor_runtime.errors import BufferClosed
from reactor_runtime.model.annotations import is_authors, own_annotations
from reactor_runtime.model.reactor_model import ReactorModel


class ReactorPipeline(ReactorModel):
    """A model that yields: write ``inference()``, a generator, and annotate ``state``.

    The generator, sync or async, is advanced once a turn; each ``yield`` is an ``Output``, or
    ``None``/``Idle`` for nothing. One that finishes is started again; when the session ends or the
    last client leaves it is closed (its ``finally`` runs).

    Raises:
        TypeError: The class annotates no ``state``, when it is constructed.
    """

    _reactor_body_calls: ClassVar[frozenset[str]] = frozenset(
        {"inference", "emit", "complete_step"}
    )

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:  # noqa: D102
        check_state(cls)
        return super().__new__(cls)

    async def run(self) -> None:
        """Advance ``inference()`` once a turn."""
        body = GeneratorBody(self)
        try:
            async for turn in self._reactor_outlet.turns():
                if turn is None:
                    await body.close()
                    continue
                began = time.perf_counter()
                shown = await body.advance()
                await self._reactor_show(shown, time.perf_counter() - began, body.giver)
        finally:
            await body.close()


def check_state(cls: type) -> None:
    """Check that a pipeline annotates its state.

    Raises:
        TypeError: It does not.
    """
    if not any("state" in own_annotations(owner) for owner in cls.__mro__ if is_authors(owner)):
        raise TypeError(f"{cls.__name__} needs an annotation `state: MyState` of an InputState")


class GeneratorBody:
    """The running ``inference()`` of one pipeline, sync or async, started when first needed."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._generator: AsyncIterator[Any] | Iterator[Any] | None = None

    async def advance(self) -> Any:
        """Return what the generator yields next; ``None`` when it ends, to be started again."""
        if self._generator is None:
            self._generator = self._started()
        try:
            if isinstance(self._generator, AsyncIterator):
                return await anext(self._generator)
            return next(self._generator)
        except (StopIteration, StopAsyncIteration, BufferClosed):
            self._generator = None
            return None

    @property
    def giver(self) -> Any:
        """What yielded last."""
        return self._generator

    async def close(self) -> None:
        """Run the generator's ``finally``, if it was started."""
        generator, self._generator = self._generator, None
        if isinstance(generator, AsyncGenerator):
            await generator.aclose()
        elif isinstance(generator, Generator):
            generator.close()

    def _started(self) -> AsyncIterator[Any] | Iterator[Any]:
        generator = self._model.inference()
        if not isinstance(generator, AsyncIterator | Iterator):
            if inspect.iscoroutine(generator):
                generator.close()
            raise TypeError(
                f"{type(self._model).__name__}.inference() must be a generator, sync or async; "
                f"it returned {type(generator).__name__}"
            )
        return generator
