"""ModelContract: one class, read once; postponed, local, inherited, and what is wrong named."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reactor_runtime import (
    ClientInfo,
    InputField,
    InputState,
    MediaInput,
    ModelMessage,
    Output,
    ReactorModel,
    Video,
    connected,
    event,
)
from reactor_runtime.errors import PayloadError
from reactor_runtime.interface.model import ModelContract
from reactor_runtime.model.command import Command

if TYPE_CHECKING:
    from decimal import Decimal


def local_model() -> type[ReactorModel]:
    """Return a model whose every name is local to this function, under postponed annotations."""

    class Mood(Enum):
        CALM = "calm"

    @dataclass
    class Pose:
        x: float
        child: Pose | None = None

    class State(InputState):
        mood: Mood = Mood.CALM
        pose: Pose = InputField(default=None)

    class Placed(ModelMessage):
        at: Pose

    class Picture(Output):
        main_video: Video

    class Sources(MediaInput):
        webcam: Video

    class Local(ReactorModel):
        """A local
        model."""

        state: State
        eyes: Sources

        @event
        async def put(self, pose: Pose, mood: Mood, client: ClientInfo) -> Placed:
            return Placed(at=pose)

        @connected
        def hello(self, client: ClientInfo) -> None: ...

        def generate(self, input: State) -> Picture:
            return Picture(main_video=None)

    return Local


def test_a_local_class_with_postponed_annotations_is_read_like_any_other() -> None:
    contract = ModelContract.of(local_model())
    assert (contract.name, contract.description) == ("Local", "A local\nmodel.")
    assert list(contract.commands) == ["put", "set_mood", "set_pose"]
    assert [t.name for t in contract.tracks] == ["main_video", "webcam"]
    assert list(contract.messages) == ["placed", "said"]
    assert list(contract.inputs) == ["eyes"]
    assert contract.state_class is not None
    put = contract.commands["put"]
    assert (put.client_parameter, [r.__name__ for r in put.replies]) == ("client", ["Placed"])
    bound = contract.bind("put", {"pose": {"x": 1, "child": {"x": 2}}, "mood": "calm"})
    assert (bound["pose"].child.x, bound["mood"].value) == (2.0, "calm")


def test_a_contract_is_frozen() -> None:
    contract = ModelContract.of(local_model())
    with pytest.raises(FrozenInstanceError):
        contract.name = "other"  # type: ignore[misc]


def test_a_command_is_described_by_a_class_of_its_own() -> None:
    command = ModelContract.of(local_model()).commands["put"].command
    assert issubclass(command, Command)
    assert command.name == "put"
    assert list(command.__command_fields__) == ["pose", "mood"]
    assert command.__command_fields__["pose"].info.required


def test_a_type_only_checkers_see_is_an_error_that_names_the_cure() -> None:
    class Model(ReactorModel):
        @event
        def pay(self, price: Decimal) -> None: ...

    with pytest.raises(TypeError, match=r"Model\.pay\(price\): 'Decimal'.*TYPE_CHECKING"):
        ModelContract.of(Model)


@pytest.mark.parametrize("kind", [types.ModuleType, Callable[[int], int], type, range])
def test_a_type_no_client_can_send_is_an_error_that_names_the_cure(kind: Any) -> None:
    class Model(ReactorModel):
        def act(self, module: Any) -> None: ...

        act.__annotations__["module"] = kind
        event(act)

    with pytest.raises(TypeError, match=r"Model\.act\(module\): .*no type a client can send; use"):
        ModelContract.of(Model)


def test_a_wrong_type_inside_a_dataclass_is_found_when_the_class_is_read() -> None:
    @dataclass
    class Holder:
        inner: list[types.ModuleType]

    class State(InputState):
        holder: Holder = InputField(default=None)

    class Model(ReactorModel):
        state: State

    with pytest.raises(TypeError, match=r"State\.holder: "):
        ModelContract.of(Model)


def test_an_undeclared_type_takes_any_json() -> None:
    class Model(ReactorModel):
        @event
        def act(self, thing, other=3): ...  # type: ignore[no-untyped-def]

    contract = ModelContract.of(Model)
    assert contract.bind("act", {"thing": [1]}) == {"thing": [1], "other": 3}
    with pytest.raises(PayloadError):
        contract.bind("act", {"thing": float("nan")})


# --- which outputs and messages are a model's --------------------------------------------------


class First(Output):
    first_video: Video


class Second(Output):
    second_video: Video


class Said(ModelMessage):
    text: str


def paint() -> Any:
    return Second(second_video=None)


class Paints(ReactorModel):
    def generate(self, input: Any) -> Any:
        return paint()


class Loops(ReactorModel):
    async def run(self) -> None:
        await self.emit(First(first_video=None))


class Both(Loops):
    async def run(self) -> None:
        await super().run()
        await self.emit(paint())


class Replaced(Loops):
    async def run(self) -> None:
        await self.emit(Second(second_video=None))


class Annotated(ReactorModel):
    output: First


class Silent(ReactorModel):
    pass


@pytest.mark.parametrize(
    ("model", "tracks"),
    [
        (Paints, ["second_video"]),
        (Loops, ["first_video"]),
        (Both, ["first_video", "second_video"]),
        (Replaced, ["second_video"]),
        (Annotated, ["first_video"]),
        (Silent, ["first_video", "second_video"]),  # its code names none: all beside it
    ],
)
def test_output_tracks_are_those_its_code_names(model: type, tracks: list[str]) -> None:
    assert [t.name for t in ModelContract.of(model).tracks] == tracks


def test_messages_are_those_it_names_and_those_beside_it() -> None:
    class Local(ModelMessage):
        pass

    class Model(ReactorModel):
        @event
        async def act(self) -> None:
            await self.send(Local())

    assert list(ModelContract.of(Model).messages) == ["local", "said"]


def test_messages_of_the_authors_other_modules_are_found_through_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "far_messages.py").write_text(
        "from reactor_runtime import ModelMessage\n"
        "class Progress(ModelMessage):\n    share: float\n"
        "class Unused(ModelMessage):\n    pass\n"
    )
    (tmp_path / "far_engine.py").write_text(
        "import far_messages\n"
        "class Engine:\n"
        "    def report(self):\n        return far_messages.Progress(share=1.0)\n"
    )
    (tmp_path / "far_model.py").write_text(
        "from far_engine import Engine\n"
        "from reactor_runtime import ReactorModel\n"
        "class Far(ReactorModel):\n"
        "    def load(self, config_path):\n        self.engine = Engine()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from far_model import Far  # type: ignore[import-not-found]

    assert list(ModelContract.of(Far).messages) == ["progress"]
    for name in ("far_model", "far_engine", "far_messages"):
        del sys.modules[name]


def test_two_outputs_that_disagree_on_a_track_are_an_error() -> None:
    from reactor_runtime import Audio

    class Loud(Output):
        first_video: Audio

    class Model(ReactorModel):
        def generate(self, input: Any) -> Any:
            return Loud(first_video=None) if input else First(first_video=None)

    with pytest.raises(TypeError, match="both declare the track 'first_video', differently"):
        ModelContract.of(Model)
