"""InputState: fields, defaults, inheritance, and the commands they become."""

import copy
import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
import pytest

from reactor_runtime import FieldInfo, InputField, InputState, ReactorModel, UploadedFile, event
from reactor_runtime.model.contract import ModelContract

T = TypeVar("T")


class Plain(InputState):
    """State with every kind of field."""

    prompt: str = InputField(default="sea", max_length=40, description="What to show.")
    speed: int = InputField(default=1, ge=0, le=5)
    mode: Literal["a", "b"] = "a"
    picture: UploadedFile
    mask: UploadedFile | None = None
    limit: ClassVar[int] = 3
    _seen: int = 0
    _trail: list[int] = dataclasses.field(default_factory=list)
    _bare: list[int] = []  # noqa: RUF012 - what authors write

    def double(self) -> int:
        return 2 * self.speed


def test_a_state_starts_with_its_defaults() -> None:
    state = Plain()
    assert (state.prompt, state.speed, state.mode) == ("sea", 1, "a")
    assert state.picture is None
    assert state.mask is None
    assert (state._seen, state._trail, state._bare) == (0, [], [])
    assert state.double() == 2


def test_mutable_private_defaults_are_each_sessions_own() -> None:
    first, second = Plain(), Plain()
    first._trail.append(1)
    first._bare.append(1)
    assert (second._trail, second._bare) == ([], [])


def test_a_state_is_read_and_written_freely() -> None:
    state = Plain(speed=3, _seen=7)
    state.prompt = "forest"
    setattr(state, "speed", 4)  # noqa: B010
    state._seen += 1
    assert (getattr(state, "prompt"), state.speed, state._seen) == ("forest", 4, 8)  # noqa: B009
    assert state == Plain(prompt="forest", speed=4, _seen=8)
    assert state != Plain()
    assert copy.deepcopy(state) == state
    assert "prompt='forest'" in repr(state)


def test_an_unknown_field_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="Plain has no field spede"):
        Plain(spede=1)


def test_the_class_shows_defaults_and_public_fields() -> None:
    assert Plain.prompt == "sea"
    assert list(Plain._public_fields) == ["prompt", "speed", "mode", "picture", "mask"]
    info = Plain._public_fields["speed"]
    assert isinstance(info, FieldInfo)
    assert (info.default, info.ge, info.le) == (1, 0, 5)
    assert Plain._public_fields["picture"].required


def test_a_private_field_needs_a_default() -> None:
    with pytest.raises(TypeError, match=r"State\._count has no default.*give it a value"):

        class State(InputState):
            _count: int


def test_a_mutable_public_default_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"State\.points: the default is a list"):

        class State(InputState):
            points: list[int] = []  # noqa: RUF012


def test_a_public_default_may_be_made() -> None:
    class State(InputState):
        points: list[int] = dataclasses.field(default_factory=list)

    State().points.append(1)
    assert State().points == []


def test_unhashable_defaults_are_copied_per_session() -> None:
    @dataclass
    class Pose:
        x: float = 0.0

    class State(InputState):
        pose: Pose = Pose()

    State().pose.x = 3.0
    assert State().pose.x == 0.0


def test_fields_are_inherited_and_a_redeclared_one_replaces() -> None:
    class Child(Plain):
        speed: float = InputField(default=0.5, le=1)  # type: ignore[assignment]
        extra: bool = False

    assert list(Child._public_fields) == ["prompt", "speed", "mode", "picture", "mask", "extra"]
    assert Child().speed == 0.5
    assert Child._public_fields["speed"].le == 1
    assert Plain().speed == 1
    assert Child()._trail == []


def test_of_two_bases_the_nearer_declaration_counts() -> None:
    class Root(InputState):
        speed: int = 1

    class Fast(Root):
        speed: int = 9

    class Other(Root):
        zoom: int = 2

    class Both(Other, Fast):
        pass

    assert (Both().speed, Both.speed, Both().zoom) == (9, 9, 2)


@pytest.mark.parametrize("slots", [False, True])
def test_a_dataclass_decorator_above_it_changes_nothing_that_matters(slots: bool) -> None:
    decorate: Any = dataclass(**{"slots": slots})

    @decorate
    class State(Plain):
        zoom: float = InputField(default=1.0, ge=0.5)
        frame: UploadedFile = InputField()
        other: UploadedFile
        _cache: dict[str, int] = dataclasses.field(default_factory=dict)

    state: Any = State()
    assert (state.zoom, state.frame, state.other, state._cache) == (1.0, None, None, {})
    assert (state.prompt, state.picture, state._trail) == ("sea", None, [])
    assert State(zoom=2.0).zoom == 2.0
    assert list(State._public_fields)[-3:] == ["zoom", "frame", "other"]

    class Model(ReactorModel):
        state: State

    assert ModelContract.of(Model).bind("set_zoom", {"zoom": 3}) == {"zoom": 3.0}


def test_an_authors_own_init_still_finds_defaults() -> None:
    class State(InputState):
        speed: int = 2

        def __init__(self, start: int) -> None:
            self.speed += start

    assert State(3).speed == 5


# --- commands ----------------------------------------------------------------------------------


class Steered(ReactorModel):
    state: Plain

    @event(name="set_mode", description="My own.")
    def choose(self, mode: str, fast: bool = False) -> None: ...


def test_public_fields_become_commands_unless_an_event_has_the_name() -> None:
    commands = ModelContract.of(Steered).commands
    assert list(commands) == ["set_mode", "set_prompt", "set_speed", "set_picture", "set_mask"]
    assert commands["set_mode"].handler_name == "choose"
    assert commands["set_mode"].field is None
    assert (commands["set_speed"].handler_name, commands["set_speed"].field) == (None, "speed")


def test_constraints_and_description_are_carried_over() -> None:
    command = ModelContract.of(Steered).commands["set_prompt"]
    info = command.command.__command_fields__["prompt"].info
    assert (info.max_length, info.description) == (40, "What to show.")
    assert command.description == "What to show."
    assert list(command.fields) == ["prompt"]


def test_a_subclass_may_annotate_another_state() -> None:
    class Wider(Plain):
        extra: int = 0

    class Child(Steered):
        state: Wider

    contract = ModelContract.of(Child)
    assert contract.state_class is Wider
    assert "set_extra" in contract.commands


def test_a_state_that_is_no_input_state_is_the_authors_own() -> None:
    class Model(ReactorModel):
        state: dict[str, int]

    contract = ModelContract.of(Model)
    assert contract.state_class is None
    assert contract.commands == {}


def test_a_state_class_that_is_nowhere_is_an_error_naming_the_cure() -> None:
    class Model(ReactorModel):
        state: "Nowhere"  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match=r"Model\.state.*module level"):
        ModelContract.of(Model)


def test_an_optional_state_is_found() -> None:
    class Model(ReactorModel):
        state: "Plain | None"

    assert ModelContract.of(Model).state_class is Plain


def test_a_parametrised_state_is_found() -> None:
    class Held(InputState, Generic[T]):
        value: T | None = None

    class Model(ReactorModel):
        state: Held[int] | None

    contract = ModelContract.of(Model)
    assert contract.state_class is Held
    assert list(contract.commands) == ["set_value"]


def test_a_field_may_have_any_name() -> None:
    class Odd(InputState):
        self: int = 1
        cls: int = 2
        values: int = 3

    assert vars(Odd(self=4)) == {"self": 4, "cls": 2, "values": 3}


def test_an_array_or_tensor_is_each_sessions_own() -> None:
    class Tensor:  # hashable, unlike an array
        shape, dtype = (2,), float

        def __init__(self) -> None:
            self.numbers = [0, 0]

    class Held(InputState):
        _latents: Any = Tensor()
        _noise: Any = np.zeros(2)

    Held()._latents.numbers[0] = 5
    Held()._noise[0] = 5
    assert Held()._latents.numbers == [0, 0]
    assert Held()._noise.tolist() == [0, 0]
