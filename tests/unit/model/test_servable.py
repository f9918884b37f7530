"""What cannot be served, and what in a class is probably not what its author meant."""

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from reactor_runtime import (
    Audio,
    InputField,
    InputState,
    ModelMessage,
    Output,
    ReactorModel,
    ReactorPipeline,
    Video,
    event,
    session_ended,
)
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.servable import check_servable, doubts


class State(InputState):
    hue: float = 0.5


class Shown(Output):
    main_video: Video


class Good(ReactorPipeline):
    state: State

    def inference(self) -> Iterator[Shown]:
        yield Shown(main_video=None)


class Misspelt(ReactorPipeline):
    state: State

    def inferense(self) -> Iterator[Shown]:
        yield Shown(main_video=None)


class Empty(ReactorPipeline):
    state: State


class Stateless(ReactorPipeline):
    def inference(self) -> Iterator[Shown]:
        yield Shown(main_video=None)


class Steps(ReactorModel):
    def genrate(self, input: Any) -> None: ...


class Nothing(ReactorModel):
    pass


class Loop(ReactorModel):
    async def run(self) -> None: ...


class LoopingPipeline(ReactorPipeline):
    async def run(self) -> None: ...


class Child(Good):
    pass


@pytest.mark.parametrize("model", [Good, Child, Loop, LoopingPipeline])
def test_a_model_with_a_body_can_be_served(model: type) -> None:
    check_servable(model)
    assert doubts(model) == []


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            Misspelt,
            r"Misspelt has no inference\(\); did you mean inferense\(\)\? Call it inference",
        ),
        (Empty, r"Empty has no inference\(\): write it, a generator"),
        (Stateless, r"Stateless needs an annotation `state: MyState`"),
        (Steps, r"Steps has no generate\(\); did you mean genrate\(\)\?"),
        (Nothing, r"Nothing has no generate\(\): write generate\(\), run\(\), or"),
    ],
)
def test_a_model_without_one_cannot(model: type, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        check_servable(model)


class Unmarked(Good):
    def session_ended(self) -> None: ...

    def on_connected(self, client: Any) -> None: ...

    @event
    def file_uploaded(self, name: str) -> None: ...


class Marked(Good):
    @session_ended
    def session_ended(self) -> None: ...


class MarkedAbove(Marked):
    def session_ended(self) -> None: ...


def test_a_method_that_is_called_like_a_hook_and_is_none_is_doubted() -> None:
    found = doubts(Unmarked)
    assert [each.split(" ")[0] for each in found] == [
        "Unmarked.session_ended()",
        "Unmarked.on_connected()",
    ]
    assert "mark it with @session_ended" in found[0]
    assert "mark it with @connected" in found[1]
    assert doubts(Marked) == doubts(MarkedAbove) == []


class Near(Good):
    def loads(self, config_path: Any) -> None: ...

    def process_inputs(self) -> None: ...

    def reload(self) -> None: ...

    @event
    def warmups(self) -> None: ...


def test_a_method_that_is_called_nearly_like_one_of_ours_is_doubted() -> None:
    assert doubts(Near) == [
        "Near.loads() is not called by the runtime: load() is",
        "Near.process_inputs() is not called by the runtime: process_input() is",
    ]


class Mode(Enum):
    CALM = "calm"


class Untyped(InputState):
    hue = 0.5
    mode = Mode.CALM
    speed: float = 1.0
    LIMIT = 3
    kinds: ClassVar = ("a", "b")
    _rate = 0.5

    @property
    def double(self) -> float:
        return 2 * self.speed


class Tracks(Output):
    main_video: Video
    voice = Audio


class Forgetful(ReactorPipeline):
    state: Untyped

    def inference(self) -> Iterator[Tracks]:
        yield Tracks(main_video=None)


def test_a_state_field_or_track_without_a_type_is_doubted() -> None:
    found = doubts(Forgetful)
    assert [each.split(" ")[0] for each in found] == ["Untyped.hue", "Untyped.mode", "Tracks.voice"]
    assert "write hue: float = …" in found[0]
    assert "write voice: Audio" in found[2]


@pytest.mark.parametrize("base", [InputState, ModelMessage])
def test_a_declared_field_without_a_type_is_an_error(base: type) -> None:
    with pytest.raises(TypeError, match=r"Wrong\.hue has no type: write hue: float"):
        type("Wrong", (base,), {"hue": InputField(default=0.5), "__module__": __name__})


def declared(kind: Any) -> type:
    class Wrong(InputState):
        value: kind

    class Model(ReactorPipeline):
        state: Wrong

        def inference(self) -> Iterator[Shown]:
            yield Shown(main_video=None)

    return Model


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (complex, "use two numbers"),
        (bytes, "use UploadedFile, or text"),
        (list[bytes], "use UploadedFile, or text"),
        (bytearray | None, "use UploadedFile, or text"),
        (dict[str, complex], "use two numbers"),
        (NDArray[np.float32], "use numbers, text, lists"),
        (Callable[[], int], "use numbers, text, lists"),
    ],
)
def test_a_type_that_json_has_no_form_for_is_no_type_of_a_field(kind: Any, told: str) -> None:
    with pytest.raises(TypeError, match=f"no type a client can send; {told}"):
        ModelContract.of(declared(kind))
