"""What cannot be marked is refused when the class is defined, not found out by a silent model."""

from collections.abc import Iterator
from typing import Any

import pytest

from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.events import connected, event, session_started
from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.pipeline import ReactorPipeline
from reactor_runtime.model.reactor_model import ReactorModel


class State(InputState):
    level: int = 1


def marked(method: str, base: type[Any] = ReactorModel, **more: Any) -> type[Any]:
    """Return a model class whose method of that name is a command."""

    def handler(self: Any) -> None: ...

    handler.__name__, handler.__qualname__ = method, f"Model.{method}"
    return type("Model", (base,), {method: event(handler), **more})


@pytest.mark.parametrize("method", ["run", "load", "generate", "process_input", "emit"])
def test_what_the_runtime_calls_is_no_command(method: str) -> None:
    cure = rf"Model\.{method}\(\) is what the runtime calls.*@event\(name='{method}'\)"
    with pytest.raises(TypeError, match=cure):
        marked(method)


@pytest.mark.parametrize("method", ["run", "load", "inference", "emit"])
def test_what_the_runtime_calls_of_a_pipeline_is_no_command(method: str) -> None:
    with pytest.raises(TypeError, match=rf"Model\.{method}\(\) is what the runtime calls"):
        marked(method, ReactorPipeline)


def test_it_is_no_hook_either() -> None:
    with pytest.raises(TypeError, match=r"run\(\) is what the runtime calls"):

        class Model(ReactorModel):
            @session_started
            async def run(self) -> None: ...


def test_a_mark_from_a_mixin_is_found_too() -> None:
    class Mixin:
        @event
        def run(self) -> None: ...

    with pytest.raises(TypeError, match=r"Model\.run\(\) is what the runtime calls"):
        type("Model", (Mixin, ReactorModel), {})


def test_a_command_may_have_any_name() -> None:
    class Model(ReactorModel):
        @event(name="run")
        def run_plan(self) -> None: ...
        @event(name="load")
        def load_plan(self) -> None: ...

    assert set(ModelContract.of(Model).commands) == {"run", "load"}


def test_what_an_own_body_does_not_call_may_be_a_command() -> None:
    class Model(ReactorModel):
        async def run(self) -> None: ...
        @event
        def generate(self, prompt: str) -> None: ...

    class Pipeline(ReactorPipeline):
        state: State

        def inference(self) -> Iterator[Any]:
            yield None

        @event
        def generate(self, prompt: str) -> None: ...

    assert "generate" in ModelContract.of(Model).commands
    assert "generate" in ModelContract.of(Pipeline).commands


def test_other_names_are_free() -> None:
    for method in ("start", "stop", "step", "reset", "pause", "play", "move", "send", "get_state"):
        assert method in ModelContract.of(marked(method)).commands


@pytest.mark.parametrize("kind", [staticmethod, classmethod, property])
def test_only_methods_can_be_marked(kind: Any) -> None:
    with pytest.raises(TypeError, match=f"@event marks a method, not a {kind.__name__}"):
        event(kind(lambda self: None))
    with pytest.raises(TypeError, match=f"@connected marks a method, not a {kind.__name__}"):
        connected(kind(lambda self: None))

    def handler(self: Any) -> None: ...

    with pytest.raises(TypeError, match=rf"Model\.act is a {kind.__name__}.*mark a plain method"):
        type("Model", (ReactorModel,), {"act": kind(event(handler))})
