"""Payloads: normalised by declared type, then taken strictly, refused with command and field."""

import asyncio
import collections
import datetime
import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, List, Literal, NewType, NotRequired, Optional, TypedDict, Union  # noqa: UP035

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from reactor_runtime import InputField, InputState, ReactorModel, UploadedFile, event
from reactor_runtime.errors import PayloadError, UnresolvedUploadError
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.file_references import FileReference


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Shape(Enum):
    ROUND = (1, 2)
    FLAT = (3, 4)


@dataclass
class Pose:
    x: float
    y: float = 0.0
    mood: Mood = Mood.CALM
    tags: list[str] = field(default_factory=list)


@dataclass
class Tree:
    name: str
    children: list["Tree"] = field(default_factory=list)


@dataclass
class Bounded:
    share: float = InputField(default=0.5, ge=0, le=1)

    def __post_init__(self) -> None:
        if self.share == 0.25:
            raise ValueError("secret text")


class Options(TypedDict):
    count: int
    ratio: NotRequired[float]


class Inner(BaseModel):
    count: int
    ratio: float


class Request(BaseModel):
    name: str
    inner: Inner


Json = dict[str, "Json"] | list["Json"] | str | float | None
Alias = list[Literal["n", "s"]]
Seconds = NewType("Seconds", float)
FILE = UploadedFile("a.png", "image/png", b"x")


def accept(annotation: Any, value: Any, default: Any = InputField()) -> Any:
    """Return what a handler with one argument of *annotation* would receive for *value*."""

    class Model(ReactorModel):
        def act(self, arg: Any = default) -> None: ...

        act.__annotations__["arg"] = annotation
        event(act)

    return ModelContract.of(Model).bind("act", {"arg": value})["arg"]


def refusal(annotation: Any, value: Any, default: Any = InputField()) -> PayloadError:
    """Return the error that *value* meets."""
    with pytest.raises(PayloadError) as caught:
        accept(annotation, value, default)
    assert caught.value.command == "act"
    return caught.value


@pytest.mark.parametrize(
    ("annotation", "value", "wanted"),
    [
        (int, 3, 3),
        (int, 3.0, 3),
        (int, -0.0, 0),
        (int, 10**400, 10**400),
        (float, 2, 2.0),
        (float, 2.5, 2.5),
        (bool, True, True),
        (str, "é", "é"),
        (str, "", ""),
        (Literal["a", 1], "a", "a"),
        (Literal["a", 1], 1.0, 1),
        (Literal[Mood.CALM], "calm", Mood.CALM),
        (Mood, "wild", Mood.WILD),
        (Level, 2.0, Level.HIGH),
        (Shape, "FLAT", Shape.FLAT),
        (int | None, None, None),
        (Optional[List[int]], [1.0, 2], [1, 2]),  # noqa: UP006, UP045
        (Union[int, str], "x", "x"),  # noqa: UP007
        (Union[int, str], 1.0, 1),  # noqa: UP007
        (list[list[float]], [[1, 2.5], []], [[1.0, 2.5], []]),
        (list, [1, "a"], [1, "a"]),
        (tuple[int, str], [1.0, "x"], (1, "x")),
        (tuple[float, ...], [1, 2], (1.0, 2.0)),
        (tuple, [1], (1,)),
        (set[int], [1.0, 1], {1}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (Sequence[int], [1.0], [1]),
        (collections.deque[int], [1], collections.deque([1])),
        (dict, {"a": [1.5]}, {"a": [1.5]}),
        (dict[str, int], {"a": 1.0}, {"a": 1}),
        (dict[int, str], {"3": "x"}, {3: "x"}),
        (dict[Mood, int], {"calm": 1}, {Mood.CALM: 1}),
        (Mapping[str, Pose], {"a": {"x": 1}}, {"a": Pose(1.0)}),
        (Any, {"a": [None, True, 1.5, "x"]}, {"a": [None, True, 1.5, "x"]}),
        (object, 3, 3),
        (Alias, ["n"], ["n"]),
        (Json, {"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}),
        (Annotated[int, "note"], 1.0, 1),
        (Seconds, 1, 1.0),
        (Pose, {"x": 1, "mood": "wild", "tags": ["a"]}, Pose(1.0, 0.0, Mood.WILD, ["a"])),
        (list[Pose], [{"x": 1}], [Pose(1.0)]),
        (Tree, {"name": "a", "children": [{"name": "b"}]}, Tree("a", [Tree("b")])),
        (Bounded, {}, Bounded(0.5)),
        (Options, {"count": 1.0}, {"count": 1}),
        (Options, {"count": 1.0, "ratio": 2}, {"count": 1, "ratio": 2.0}),
        (
            Request,
            {"name": "a", "inner": {"count": 2.0, "ratio": 1}},
            Request(name="a", inner=Inner(count=2, ratio=1.0)),
        ),
        (datetime.date, "2026-01-02", datetime.date(2026, 1, 2)),
        (uuid.UUID, str(uuid.UUID(int=1)), uuid.UUID(int=1)),
    ],
)
def test_good_values_arrive_as_their_declared_type(
    annotation: Any, value: Any, wanted: Any
) -> None:
    found = accept(annotation, value)
    assert found == wanted
    assert type(found) is type(wanted)


# --- what lax reading lets through --------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "words"),
    [
        (float, math.nan, "finite"),
        (float, math.inf, "finite"),
        (float, "NaN", "a number, not text"),
        (float, "1.5", "a number, not text"),
        (float, True, "a number, not true"),
        (float, 10**400, "a number, not such a number"),
        (int, True, "a whole number, not true"),
        (int, False, "a whole number, not false"),
        (int, "8080", "a whole number, not text"),
        (int, 3.5, "a whole number, not 3.5"),
        (int, math.nan, "a whole number"),
        (int, math.inf, "a whole number"),
        (int, None, "a whole number, not null"),
        (bool, "no", "true or false, not text"),
        (bool, 1, "true or false, not 1"),
        (bool, 0.0, "true or false"),
        (str, 5, "text, not 5"),
        (str, None, "text, not null"),
        (str, "\ud800", "surrogate"),
        (str, ["a"], "text, not a list"),
        (Literal["a", 1], True, "one of 'a', 1"),
        (Literal["a", 1], "b", "one of 'a', 1"),
        (Mood, "CALM", "one of 'calm', 'wild'"),
        (Level, True, "one of 1, 2"),
        (int | None, "x", "a whole number or null, not text"),
        (list[int], {"a": 1}, "a list, not an object"),
        (list[int], "12", "a list, not text"),
        (list[list[float]], [[1], [2, math.nan]], "at [1][1]: must be a finite number"),
        (tuple[int, str], [1], "lacks [1]"),
        (tuple[int, str], [1, "a", 2], "has too many items"),
        (set[dict], [{}], "was refused (TypeError)"),  # type: ignore[type-arg]
        (dict[str, int], {"a": 1.5}, "at .a: must be a whole number"),
        (dict[int, str], {"x": "y"}, "at .x (the key): must be a whole number, not text"),
        (dict[int, str], {"1" * 5000: "y"}, "key"),
        (dict[str, Any], {"\ud800": 1}, "key"),
        (Any, [1, {"a": math.nan}], "without NaN, infinity"),
        (Any, ["\ud800"], "half a character"),
        (Any, [object()], "must be JSON"),
        (Json, {"a": [True]}, "at .a[0]: must be an object or a list or text or a number or null"),
        (int | list[int], [1, "x"], "at [1]: must be a whole number, not text"),
        (Pose | str, {"x": 1, "z": 2}, "at .z: is not known"),
        (Pose | Options, {"y": 1}, "lacks x"),
        (float | None, math.nan, "must be a finite number"),
        (Pose, {"y": 1}, "lacks x"),
        (Pose, {"x": 1, "z": 2}, "at .z: is not known"),
        (Pose, {"x": True}, "at .x: must be a number, not true"),
        (Pose, [1, 2], "an object, not a list"),
        (Pose, "x", "an object, not text"),
        (list[Pose], [{"x": 1}, {"x": "1"}], "at [1].x: must be a number"),
        (Pose | None, {"x": 1, "mood": "sad"}, "at .mood: must be one of"),
        (Bounded, {"share": 2}, "at .share: must be at most 1"),
        (Bounded, {"share": 0.25}, "was refused (ValueError)"),
        (Options, {"count": True}, "at .count: must be a whole number"),
        (Options, {"ratio": 1}, "lacks count"),
        (Options, {"count": 1, "rate": 2}, "at .rate: is not known"),
        (Request, {"name": "a", "inner": {"count": "1", "ratio": 1}}, "at .inner.count: must be a"),
        (Request, {"name": "a"}, "lacks inner"),
        (datetime.date, 5, "is refused (date_type)"),
        (datetime.date, math.nan, "must be JSON without NaN"),
        (Request, {"name": FILE, "inner": {}}, "must be JSON"),
        (dict[str, int], {"my secret": "x"}, "at .…: must be a whole number, not text"),
        (Pose, {"\ud800": 1}, "half a character"),
        (UploadedFile, "a.png", "an uploaded file, not text"),
        (UploadedFile, {"name": "x"}, "an uploaded file, not an object"),
    ],
)
def test_bad_values_are_refused_with_command_field_and_reason(
    annotation: Any, value: Any, words: str
) -> None:
    error = refusal(annotation, value)
    assert error.field == "arg"
    assert words in error.reason
    assert error.code == "invalid_command"


@pytest.mark.parametrize(
    ("default", "annotation", "good", "bad", "words"),
    [
        (InputField(ge=0, le=5), int, 5.0, 6, "at most 5"),
        (InputField(ge=0.5), float, 1, 0.4, "at least 0.5"),
        (InputField(min_length=1, max_length=3), str, "abc", "abcd", "at most 3 characters, not 4"),
        (InputField(min_length=2), list[int], [1, 2], [1], "at least 2 items, not 1"),
        (InputField(choices=["a", "b"]), str, "a", "c", "one of 'a', 'b'"),
        (InputField(choices=[1, 2]), int, 2.0, 3, "one of 1, 2"),
        (InputField(choices=["a", "b"]), list[str], ["a", "b"], ["a", "c"], "one of 'a', 'b'"),
        (InputField(ge=3), int | None, None, 2, "at least 3"),
        (InputField(choices=["calm"]), Mood, "calm", "wild", "one of 'calm'"),
    ],
)
def test_constraints_hold(default: Any, annotation: Any, good: Any, bad: Any, words: str) -> None:
    accept(annotation, good, default)
    assert words in refusal(annotation, bad, default).reason


def let_out(error: BaseException) -> None:
    raise error


ENDS = [KeyError("secret"), SystemExit(3), asyncio.CancelledError(), KeyboardInterrupt()]


@pytest.mark.parametrize("error", ENDS, ids=lambda error: type(error).__name__)
def test_nothing_an_authors_type_raises_comes_out(error: BaseException) -> None:
    @dataclass
    class Raises:
        x: int

        def __post_init__(self) -> None:
            let_out(error)

    class Checks(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def check(cls, value: int) -> int:
            let_out(error)
            return value

    for kind in (Raises, Checks, list[Raises], Checks | None):
        value = [{"x": 1}] if kind == list[Raises] else {"x": 1}
        reason = refusal(kind, value).reason
        assert reason.endswith(f"was refused ({type(error).__name__})")
        assert "secret" not in reason


# --- the call as a whole -------------------------------------------------------------------------


@dataclass
class Layer:
    image: UploadedFile
    opacity: float = 1.0

    def __post_init__(self) -> None:
        assert self.image.data  # of a file that is not here there is none


class State(InputState):
    speed: int = InputField(default=1, ge=0, le=5)
    picture: UploadedFile
    mask: UploadedFile | None = None


class Model(ReactorModel):
    state: State

    @event
    def say(self, text: str, loud: bool = False, where: tuple[int, ...] = InputField(())) -> None:
        """Say."""

    @event
    def show(self, files: list[UploadedFile], cover: UploadedFile | None = None) -> None: ...

    @event
    def stack(self, layers: list[Layer]) -> None: ...

    @event
    def collect(self, into: list[int] = []) -> None: ...  # noqa: B006 - what authors write


CONTRACT = ModelContract.of(Model)


def test_every_argument_is_filled_in() -> None:
    assert CONTRACT.bind("say", {"text": "hi"}) == {"text": "hi", "loud": False, "where": ()}
    assert CONTRACT.bind("set_speed", {}) == {"speed": 1}
    first = CONTRACT.bind("collect", {})
    first["into"].append(1)
    assert CONTRACT.bind("collect", {}) == {"into": []}


@pytest.mark.parametrize(
    ("command", "payload", "field", "words"),
    [
        ("say", {}, "text", "is missing"),
        ("say", {"text": "a", "volume": 3}, "volume", "not known"),
        ("say", {"text": "a", "client": "me"}, "client", "not known"),
        ("say", {"text": "a", 3: 1}, "(not text)", "not known"),
        ("say", [], None, "an object, not a list"),
        ("say", "text", None, "an object, not text"),
        ("say", None, None, "an object, not null"),
        ("nowhere", {}, None, "no such command"),
        ("connected", {}, None, "no such command"),
        ("set_speed", {"speed": 9}, "speed", "at most 5"),
        ("set_picture", {}, "picture", "is missing"),
        ("set_picture", {"picture": None}, "picture", "an uploaded file, not null"),
    ],
)
def test_wrong_calls_are_refused(command: str, payload: Any, field: str | None, words: str) -> None:
    with pytest.raises(PayloadError) as caught:
        CONTRACT.bind(command, payload)
    assert (caught.value.command, caught.value.field) == (command, field)
    assert words in caught.value.reason
    assert str(caught.value).startswith(f"{command}.{field}: " if field else f"{command}: ")


def test_a_refusal_repeats_nothing_long_and_no_text_of_a_value() -> None:
    secret = "my secret " * 10_000
    for payload in ({"text": secret, "loud": secret}, {"text": "a", secret: 1}, {"text": [secret]}):
        with pytest.raises(PayloadError) as caught:
            CONTRACT.bind("say", payload)
        assert len(str(caught.value)) < 500
        if secret not in payload:
            assert "secret" not in str(caught.value)
    with pytest.raises(PayloadError) as caught:
        CONTRACT.bind(secret, {})
    assert len(str(caught.value)) < 500


# --- files ---------------------------------------------------------------------------------------

X, Y = {"upload_id": "x", "name": "a"}, {"upload_id": "y"}
OTHER = UploadedFile("b.png", "image/png", b"yy")
FILES = {"x": FILE, "y": OTHER}


@pytest.mark.parametrize(
    ("annotation", "value", "wanted"),
    [
        (UploadedFile, FILE, FILE),
        (UploadedFile, X, FILE),
        (UploadedFile, FileReference("x"), FILE),
        (UploadedFile | None, X, FILE),
        (UploadedFile | None, None, None),
        (str | UploadedFile, X, FILE),
        (list[UploadedFile], [X, Y, X], [FILE, OTHER, FILE]),
        (list[UploadedFile], [FILE], [FILE]),
        (tuple[UploadedFile, int], [X, 2.0], (FILE, 2)),
        (frozenset[UploadedFile], [X, X], frozenset({FILE})),
        (dict[str, UploadedFile], {"one": X}, {"one": FILE}),
        (list[dict[str, list[UploadedFile]]], [{"a": [X]}], [{"a": [FILE]}]),
        (Layer, {"image": X}, Layer(FILE)),
        (list[Layer], [{"image": X}, {"image": Y, "opacity": 0}], [Layer(FILE), Layer(OTHER, 0)]),
        (Any, FileReference("x"), FILE),  # its caller says that it is a file
        (Any, X, X),  # by its declared type it is none
        (dict[str, str], X, X),
        (list[Any], [X], [X]),
    ],
)
def test_references_become_files_where_the_type_wants_one(
    annotation: Any, value: Any, wanted: Any
) -> None:
    class Model(ReactorModel):
        def act(self, arg: Any) -> None: ...

        act.__annotations__["arg"] = annotation
        event(act)

    assert ModelContract.of(Model).bind("act", {"arg": value}, FILES) == {"arg": wanted}


@pytest.mark.parametrize(
    ("command", "payload", "words"),
    [
        ("set_speed", {"speed": FILE}, "set_speed.speed: must be a whole number, not a file"),
        ("set_speed", {"speed": FileReference("x")}, "must be a whole number, not a file"),
        ("set_speed", {"speed": FileReference("gone")}, "must be a whole number, not a file"),
        ("say", {"text": X}, "say.text: must be text, not an object"),
        ("say", {"text": "a", "extra": FileReference("x")}, "say.extra: is not known"),
        ("set_picture", {"picture": {"upload_id": 5}}, "must be an uploaded file, not an object"),
        ("show", {"files": [Y, "b"]}, "at [1]: must be an uploaded file, not text"),
        ("show", {"files": [{"upload_id": "gone"}, "b"]}, "at [1]: must be an uploaded file"),
        ("show", {"files": [{"upload_id": "gone"}], "cover": 3}, "show.cover: must be"),
        ("show", {"files": [{"upload_id": "gone"}], "more": 3}, "show.more: is not known"),
    ],
)
def test_what_is_wrong_is_said_before_a_file_is_waited_for(
    command: str, payload: Any, words: str
) -> None:
    with pytest.raises(PayloadError) as caught:
        CONTRACT.bind(command, payload, FILES)
    assert caught.value.code == "invalid_command"
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("command", "payload", "where", "missing"),
    [
        ("set_picture", {"picture": X}, "set_picture.picture: refers", ("x",)),
        ("set_picture", {"picture": FileReference("x")}, "set_picture.picture: refers", ("x",)),
        ("set_mask", {"mask": Y}, "set_mask.mask: refers", ("y",)),
        ("show", {"files": [FILE, Y]}, "show.files: at [1]: refers", ("y",)),
        ("show", {"files": [Y, X, Y], "cover": X}, "show.files: at [0]: refers", ("y", "x")),
        ("stack", {"layers": [{"image": Y}]}, "stack.layers: at [0].image: refers", ("y",)),
    ],
)
def test_files_that_are_not_here_are_all_named_at_once(
    command: str, payload: Any, where: str, missing: tuple[str, ...]
) -> None:
    with pytest.raises(UnresolvedUploadError) as caught:
        CONTRACT.bind(command, payload)
    assert (caught.value.code, caught.value.upload_ids) == ("unresolved_upload", missing)
    assert str(caught.value).startswith(where)


def test_another_member_of_a_union_needs_no_file() -> None:
    class Model(ReactorModel):
        @event
        def act(self, arg: Layer | dict[str, Any]) -> None: ...

    odd = {"image": Y, "more": 1}
    assert ModelContract.of(Model).bind("act", {"arg": odd}) == {"arg": odd}


def nested(levels: int, value: Any = 1) -> Any:
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("annotation", [Any, Json, Tree, Request, int, list[Any], UploadedFile])
def test_depth_is_bounded(annotation: Any) -> None:
    tree: Any = {"name": "a"}
    for _ in range(10_000):
        tree = {"name": "a", "children": [tree]}
    for deep in (nested(10_000), tree, {"name": nested(10_000), "inner": {}}):
        error = refusal(annotation, deep)
        assert (error.field, "nested more than 64" in error.reason) == ("arg", True)


@pytest.mark.parametrize("annotation", [Any, Json])
def test_what_is_within_the_depth_is_taken(annotation: Any) -> None:
    assert accept(annotation, nested(64)) == nested(64)


def test_a_long_list_of_wrong_items_is_one_refusal() -> None:
    for wrong in (["x"] * 100_000, {str(n): "x" for n in range(100_000)}):
        annotation = dict[int, int] | list[int]
        assert "must be a whole number, not text" in refusal(annotation, wrong).reason


def test_types_that_hold_themselves_are_used_several_times() -> None:
    class Model(ReactorModel):
        @event
        def act(self, one: Tree, other: Tree, rest: Json = None) -> None: ...

    tree = {"name": "a", "children": [{"name": "b"}]}
    bound = ModelContract.of(Model).bind("act", {"one": tree, "other": tree, "rest": [{"x": [1]}]})
    wanted = Tree("a", [Tree("b")])
    assert bound == {"one": wanted, "other": wanted, "rest": [{"x": [1.0]}]}


# --- anything at all -----------------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["NaN", "calm", "a", "\ud800", "x"])
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["x", "y", "mood", "name", "children", "upload_id", "\ud800", "1"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)
TYPES = [
    int, float, bool, str, Mood, Literal["a", 1], int | None, list[list[float]], tuple[int, str],
    set[Any], dict[int, float], Pose, Tree, Any, UploadedFile, Options, Request, datetime.datetime,
    Pose | str | None, Bounded,
]  # fmt: skip


def everything() -> type[ReactorModel]:
    handlers = {}
    for index, kind in enumerate(TYPES):

        def act(self: Any, x: Any, y: Any = InputField(default=None, ge=0)) -> None: ...

        act.__annotations__.update(x=kind, y=kind)
        handlers[f"act_{index}"] = event(name=f"act_{index}")(act)
    return type("Everything", (ReactorModel,), handlers)


EVERYTHING = ModelContract.of(everything())


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, len(TYPES) - 1), JSON | st.dictionaries(st.sampled_from(["x", "y", "z"]), JSON)
)
def test_any_payload_is_bound_or_refused(index: int, payload: Any) -> None:
    try:
        arguments = EVERYTHING.bind(f"act_{index}", payload)
    except PayloadError:
        return
    assert set(arguments) == {"x", "y"}


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_a_float_that_arrives_is_finite(value: Any) -> None:
    try:
        found = accept(float, value)
    except PayloadError:
        return
    assert math.isfinite(found)


class Moods(InputState):
    mode: Literal["warm", "cold"] = "warm"


class Moody(ReactorModel):
    state: Moods


@pytest.mark.parametrize(
    ("value", "told"), [("hot", "not 'hot'"), ("a prompt of many words", "not text"), (3, "not 3")]
)
def test_a_word_that_is_none_of_a_few_is_shown(value: object, told: str) -> None:
    with pytest.raises(PayloadError, match=told):
        ModelContract.of(Moody).bind("set_mode", {"mode": value})
