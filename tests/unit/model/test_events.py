"""``@event`` and the lifecycle decorators: marks, names, and what a class must keep to."""

import inspect
from collections.abc import AsyncIterator, Iterator
from functools import wraps
from typing import Any

import pytest

from reactor_runtime import (
    ClientInfo,
    ModelMessage,
    ReactorModel,
    UploadedFile,
    connected,
    disconnected,
    event,
    file_uploaded,
    session_ended,
    session_started,
)
from reactor_runtime.model.contract import ModelContract


class Pong(ModelMessage):
    """An answer."""


def test_a_command_is_named_after_its_method_or_as_told() -> None:
    class Model(ReactorModel):
        @event
        def plain(self) -> None: ...
        @event()
        def called(self) -> None: ...
        @event(name="other", description="Does something else.")
        def named(self) -> None: ...
        @event("first")
        def positional(self) -> None: ...

    contract = ModelContract.of(Model)
    assert list(contract.commands) == ["plain", "called", "other", "first"]
    assert contract.commands["other"].handler_name == "named"
    assert contract.commands["other"].description == "Does something else."
    assert contract.commands["plain"].description == ""


def test_a_marked_method_stays_the_method_it_was() -> None:
    def act(self: Any, x: int) -> int:
        return x + 1

    assert event(act) is act
    assert connected(act) is act


@pytest.mark.parametrize("name", ["connected", "disconnected"])
def test_lifecycle_names_are_reserved(name: str) -> None:
    with pytest.raises(TypeError, match=rf"act: '{name}' is reserved.*another name"):

        class Model(ReactorModel):
            @event(name=name)
            def act(self) -> None: ...


@pytest.mark.parametrize("name", ["", "  ", 3])
def test_a_command_needs_a_name(name: Any) -> None:
    with pytest.raises(TypeError, match="give the command a name"):

        class Model(ReactorModel):
            @event(name=name)
            def act(self) -> None: ...


def test_two_commands_of_one_name_are_an_error_naming_both() -> None:
    with pytest.raises(TypeError, match=r"one\(\) and two\(\) are both the command 'go'"):

        class Model(ReactorModel):
            @event(name="go")
            def one(self) -> None: ...
            @event(name="go")
            def two(self) -> None: ...


def test_a_subclass_cannot_take_an_inherited_commands_name() -> None:
    class Parent(ReactorModel):
        @event
        def go(self) -> None: ...

    with pytest.raises(TypeError, match="both the command 'go'"):

        class Child(Parent):
            @event(name="go")
            def run_off(self) -> None: ...


def test_commands_are_inherited_and_overriding_needs_the_mark_again() -> None:
    class Parent(ReactorModel):
        @event
        def kept(self) -> None: ...
        @event
        def dropped(self) -> None: ...
        @event
        def changed(self, x: int) -> None: ...

    class Child(Parent):
        def dropped(self) -> None: ...
        @event
        def changed(self, y: str) -> None: ...  # type: ignore[override]

    contract = ModelContract.of(Child)
    assert list(contract.commands) == ["kept", "changed"]
    assert list(contract.commands["changed"].fields) == ["y"]


def test_commands_come_from_mixins_too() -> None:
    class Steering:
        @event
        def steer(self, angle: float) -> None: ...

    class Model(Steering, ReactorModel):
        pass

    assert "steer" in ModelContract.of(Model).commands


def test_arguments_must_have_names() -> None:
    for wrong in (
        lambda: event(lambda self, *rest: None),
        lambda: event(lambda self, **rest: None),
    ):
        with pytest.raises(TypeError, match="name each argument"):
            wrong()
    with pytest.raises(TypeError, match="takes no self"):
        event(lambda: None)


def test_a_handler_cannot_yield() -> None:
    with pytest.raises(TypeError, match="cannot yield"):

        class Sync(ReactorModel):
            @event
            def act(self) -> Iterator[int]:
                yield 1

    with pytest.raises(TypeError, match="cannot yield"):

        class Async(ReactorModel):
            @connected
            async def hello(self) -> AsyncIterator[int]:
                yield 1


def test_only_functions_can_be_marked() -> None:
    with pytest.raises(TypeError, match="marks a method"):
        connected(3)  # type: ignore[type-var]


def test_decorators_above_and_below_keep_the_command() -> None:
    def logged(function: Any) -> Any:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return call

    class Model(ReactorModel):
        @logged
        @event
        def above(self, x: int) -> None: ...
        @event
        @logged
        def below(self, x: int) -> None: ...

    contract = ModelContract.of(Model)
    assert contract.bind("above", {"x": 1}) == contract.bind("below", {"x": 1}) == {"x": 1}


def test_the_client_is_injected_whatever_its_default() -> None:
    class Model(ReactorModel):
        @event
        def one(self, text: str, client: ClientInfo) -> None: ...
        @event
        def two(self, client: ClientInfo | None = None, text: str = "") -> None: ...
        @event
        def three(self, *, who: "ClientInfo", text: str = "") -> None: ...
        @event
        def four(self, client, text: str = "") -> None: ...  # type: ignore[no-untyped-def]
        @event
        def five(self, client: str) -> None: ...
        @event
        def none(self, text: str) -> None: ...

    commands = ModelContract.of(Model).commands
    wanted = {name: command.client_parameter for name, command in commands.items()}
    assert wanted == {
        "one": "client",
        "two": "client",
        "three": "who",
        "four": "client",
        "five": None,
        "none": None,
    }
    assert all(list(c.fields) == ["text"] for n, c in commands.items() if n != "five")


def test_replies_are_read_from_the_return_annotation() -> None:
    class Other(ModelMessage):
        pass

    class Model(ReactorModel):
        @event
        def one(self) -> Pong:
            return Pong()

        @event
        def maybe(self) -> "Pong | None": ...
        @event
        def either(self) -> Pong | Other:
            return Pong()

        @event
        def nothing(self) -> None: ...
        @event
        def unsaid(self): ...  # type: ignore[no-untyped-def]
        @event
        def unknown(self) -> "Nowhere": ...  # type: ignore[name-defined]  # noqa: F821

    replies = {n: c.replies for n, c in ModelContract.of(Model).commands.items()}
    assert replies == {
        "one": (Pong,),
        "maybe": (Pong,),
        "either": (Pong, Other),
        "nothing": (),
        "unsaid": (),
        "unknown": (),
    }


# --- lifecycle ---------------------------------------------------------------------------------


def test_each_hook_is_found_with_what_it_takes() -> None:
    class Model(ReactorModel):
        @session_started
        def begin(self) -> None: ...
        @session_ended
        async def end(self) -> None: ...
        @connected
        async def hello(self, client: ClientInfo) -> None: ...
        @disconnected
        def bye(self) -> None: ...
        @file_uploaded
        def got(self, upload: UploadedFile, client: ClientInfo) -> None: ...

    cycle = ModelContract.of(Model).lifecycle
    assert cycle.session_started is not None
    assert cycle.session_started.name == "begin"
    assert cycle.session_ended is not None
    assert cycle.session_ended.name == "end"
    assert cycle.connected is not None
    assert cycle.connected.client_parameter == "client"
    assert cycle.disconnected is not None
    assert cycle.disconnected.client_parameter is None
    assert cycle.file_uploaded is not None
    assert cycle.file_uploaded.file_parameter == "upload"
    assert cycle.file_uploaded.client_parameter == "client"


def test_a_class_without_hooks_has_none() -> None:
    class Model(ReactorModel):
        pass

    cycle = ModelContract.of(Model).lifecycle
    assert (cycle.session_started, cycle.connected, cycle.file_uploaded) == (None, None, None)


@pytest.mark.parametrize(
    "mark", [session_started, session_ended, connected, disconnected, file_uploaded]
)
def test_a_second_method_of_a_kind_is_an_error_naming_both(mark: Any) -> None:
    with pytest.raises(TypeError, match=rf"one\(\) and two\(\) are both marked @{mark.__name__}"):

        class Model(ReactorModel):
            @mark  # type: ignore[untyped-decorator]
            def one(self) -> None: ...
            @mark  # type: ignore[untyped-decorator]
            def two(self) -> None: ...


def test_a_second_method_of_a_kind_in_a_subclass_is_an_error_too() -> None:
    class Parent(ReactorModel):
        @connected
        def one(self) -> None: ...

    with pytest.raises(TypeError, match="keep one method per kind"):

        class Child(Parent):
            @connected
            def two(self) -> None: ...


def test_overriding_a_hook_keeps_the_mark() -> None:
    class Parent(ReactorModel):
        @connected
        def hello(self) -> None: ...

    class Child(Parent):
        async def hello(self, client: ClientInfo) -> None: ...  # type: ignore[override]

    hook = ModelContract.of(Child).lifecycle.connected
    assert hook is not None
    assert (hook.name, hook.client_parameter) == ("hello", "client")


def test_one_method_may_serve_two_kinds() -> None:
    class Model(ReactorModel):
        @connected
        @disconnected
        def changed(self) -> None: ...

    cycle = ModelContract.of(Model).lifecycle
    assert cycle.connected == cycle.disconnected
    assert cycle.connected is not None


def test_a_hook_may_name_the_client_as_it_likes_and_take_anything() -> None:
    class Model(ReactorModel):
        @connected
        def hello(self, visitor) -> None: ...  # type: ignore[no-untyped-def]
        @disconnected
        def bye(self, *_rest: object, **_more: object) -> None: ...

    cycle = ModelContract.of(Model).lifecycle
    assert cycle.connected is not None
    assert cycle.connected.client_parameter == "visitor"
    assert cycle.disconnected is not None
    assert cycle.disconnected.client_parameter is None


def test_a_hook_that_wants_more_than_it_can_be_given_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"begin\(client\).*takes nothing"):

        class Model(ReactorModel):
            @session_started
            def begin(self, client: ClientInfo) -> None: ...


def test_a_command_may_be_a_hook_too() -> None:
    class Model(ReactorModel):
        @event
        @session_started
        def reset(self) -> None: ...

    contract = ModelContract.of(Model)
    assert "reset" in contract.commands
    assert contract.lifecycle.session_started is not None


def test_a_class_gains_neither_fps_nor_inference() -> None:
    class Model(ReactorModel):
        @event
        def act(self) -> None: ...

    ModelContract.of(Model)
    assert not {"fps", "inference"} & vars(Model).keys()
    assert inspect.isfunction(Model.act)
