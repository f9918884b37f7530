"""A bare instance: what an author's own tests see, without a runtime."""

import asyncio
from typing import Any
from unittest.mock import AsyncMock, Mock

import numpy as np
import pytest

from reactor_runtime.errors import ApplicationError, BufferClosed
from reactor_runtime.model.client_info import ClientInfo
from reactor_runtime.model.events import connected, session_started
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.media_input import MediaInput
from reactor_runtime.model.messages import ModelMessage
from reactor_runtime.model.outlet import SilentOutlet
from reactor_runtime.model.output import Output
from reactor_runtime.model.pipeline import ReactorPipeline
from reactor_runtime.model.reactor_model import ReactorApp, ReactorModel, attach
from reactor_runtime.model.step import StepCompleted, StepOutcome
from reactor_runtime.model.tracks import Video
from reactor_runtime.model.turn import Turn
from reactor_runtime.world import World


class State(InputState):
    level: int = 1


class Note(ModelMessage):
    text: str


class Picture(Output):
    main_video: Video


class Sources(MediaInput):
    camera: Video


class Painter(ReactorModel):
    state: State
    eyes: Sources

    def __init__(self, level: int = 0) -> None:  # does not call super().__init__()
        self.level = level

    def generate(self, state: State) -> Picture:
        return Picture(main_video=np.full((2, 2, 3), state.level, np.uint8))


PICTURE = Picture(main_video=np.zeros((2, 2, 3), np.uint8))


def test_an_app_is_a_model() -> None:
    assert ReactorApp is ReactorModel


def test_a_bare_instance_is_a_world_of_one() -> None:
    model = Painter()
    assert (model.rank, model.world_size, model.local_rank) == (0, 1, 0)
    assert (model.device, model.is_leader) == ("cpu", True)
    state: object = model.state
    assert state is None
    model.rank, model.device = 3, "cuda:3"
    assert (model.rank, Painter().rank) == (3, 0)


def test_everything_ours_on_an_instance_has_one_prefix() -> None:
    model = Painter()
    _ = model.output, model.connected, model.eyes.camera
    attach(model, SilentOutlet(), World())
    place = {"rank", "world_size", "local_rank", "device", "is_leader"}
    assert {n for n in vars(model) if not n.startswith("_reactor_")} == {"level"} | place


def test_the_class_gains_no_pace_and_no_body() -> None:
    assert not {"fps", "inference", "buffer_size", "run"} & vars(Painter).keys()
    assert not hasattr(ReactorPipeline, "inference")
    assert not hasattr(ReactorModel, "fps")


def test_every_name_may_be_assigned() -> None:
    model = Painter()
    for name in ("send", "emit", "output", "connected", "eyes", "turns", "seed", "run"):
        mock = Mock()
        setattr(model, name, mock)
        assert getattr(model, name) is mock
    model.state = State(level=4)
    assert model.state.level == 4


def test_what_an_instance_emits_and_sends_goes_nowhere() -> None:
    async def use(model: Painter) -> None:
        await model.emit(PICTURE)
        await model.emit(PICTURE, compute_time=0.1, drop=True)
        await model.send(Note(text="x"))
        await ClientInfo(id="a").send(Note(text="x"))
        await model.complete_step(StepCompleted())
        model.output.flush()
        model.output.fps = 10
        assert model.output.fps is None
        assert [turn async for turn in model.turns()] == []
        await asyncio.wait_for(model.run(), 1)

    model = Painter()
    for _ in range(2):  # one instance, two loops
        asyncio.run(use(model))


def test_connected_belongs_to_no_loop() -> None:
    model = Painter()
    assert model.connected is model.connected
    assert not model.connected.is_set()

    async def wait() -> bool:
        waiting = asyncio.ensure_future(model.connected.wait())
        await asyncio.sleep(0)
        model.connected.set()
        return await asyncio.wait_for(waiting, 1)

    for _ in range(2):
        assert asyncio.run(wait())
        assert model.connected.is_set()
        model.connected.clear()


def test_older_tests_may_say_that_a_loop_is_ready_where_there_is_none() -> None:
    class Own(Painter):
        def _on_loop_ready(self) -> None:
            super()._on_loop_ready()
            self.level = 5

    model = Own()
    model._on_loop_ready()
    assert model.level == 5

    async def look() -> bool:
        await model.send(Note(text="x"))
        return bool(model.connected.is_set())

    assert [asyncio.run(look()) for _ in range(3)] == [False] * 3


def test_inputs_are_open_buffers_of_the_instance() -> None:
    one, other = Painter(), Painter()
    one.eyes.camera.push(InputFrame(5))
    frames = one.eyes.camera.try_read()
    assert frames is not None
    assert frames[0].data == 5
    assert other.eyes.camera.try_read() is None


def test_inputs_are_there_without_any_constructor() -> None:
    assert object.__new__(Painter).eyes.camera.available == 0


def test_a_subclass_may_declare_another_input() -> None:
    class More(Sources):
        depth: Video

    class Better(Painter):
        eyes: More

    assert Better().eyes.depth.available == 0
    assert not hasattr(Painter().eyes, "depth")


def test_hooks_can_be_called_by_hand() -> None:
    model = Painter()
    model.state = State(level=9)
    taken = model.process_input()
    assert taken is model.state
    outcome = StepOutcome(result=model.generate(taken))
    assert model.process_output(outcome).main_video[0, 0, 0] == 9
    with pytest.raises(ValueError, match="x"):
        model.process_output(StepOutcome(error=ValueError("x")))


def test_a_class_without_a_body_says_what_to_write() -> None:
    class Empty(ReactorModel):
        pass

    with pytest.raises(NotImplementedError, match="Empty has no body: write generate"):
        Empty().generate(None)


def test_two_hooks_of_one_kind_are_an_error_of_the_class() -> None:
    with pytest.raises(TypeError, match="session_started"):

        class Twice(ReactorModel):
            @session_started
            def one(self) -> None: ...

            @session_started
            def two(self) -> None: ...


def test_a_hook_may_be_called_what_it_is() -> None:
    class Greets(ReactorModel):
        @connected
        def connected(self) -> str:
            return "hello"

    assert Greets().connected() == "hello"


class ScriptedOutlet(SilentOutlet):
    """Hands out the turns of a script and notes what the body does with them."""

    def __init__(self, *script: Turn | None) -> None:
        self.script, self.notes, self.agreements = script, list[Any](), 0

    async def turns(self) -> Any:
        for turn in self.script:
            yield turn

    async def emit(self, output: Output, **options: Any) -> None:
        self.notes.append(output)

    async def complete_step(self, report: StepCompleted) -> None:
        self.notes.append(report)

    async def agree(self, refusal: str | None) -> str | None:
        self.agreements += 1
        return refusal

    def refuse_step(self, reason: str) -> None:
        self.notes.append(reason)


def turns(count: int) -> list[Turn | None]:
    return [Turn(number=n, time_s=0.0) for n in range(count)]


def run(model: ReactorModel, *script: Turn | None) -> list[Any]:
    outlet = ScriptedOutlet(*script)
    attach(model, outlet, World())
    asyncio.run(model.run())
    return outlet.notes


def test_the_default_body_emits_and_reports_each_turn() -> None:
    class Steps(ReactorModel):
        def generate(self, input: Any) -> Picture:
            return PICTURE

    notes = run(Steps(), *turns(1), None, *turns(1))
    assert notes[0] is PICTURE
    assert notes[1].output is PICTURE
    assert notes[1].elapsed >= 0
    assert len(notes) == 4


def test_an_emit_of_the_authors_own_is_used() -> None:
    model = Painter()
    model.state = State()
    model.emit = AsyncMock()  # type: ignore[method-assign]
    run(model, *turns(2))
    assert model.emit.await_count == 2


def test_a_refusal_is_passed_on() -> None:
    class Refuses(Painter):
        def process_input(self) -> Any:
            raise ApplicationError("not now")

    assert run(Refuses(), *turns(2)) == ["not now", "not now"]


def agreements(model: ReactorModel) -> int:
    outlet = ScriptedOutlet(*turns(3))
    model.state = State()
    attach(model, outlet, World())
    asyncio.run(model.run())
    return outlet.agreements


def test_ranks_agree_on_steps_that_the_author_may_refuse() -> None:
    class Picky(Painter):
        def process_input(self) -> Any:
            return self.state

    model = Painter()
    model.process_input = State  # type: ignore[method-assign]
    assert agreements(Picky()) == 3
    assert agreements(model) == 3


def test_ranks_do_not_ask_around_where_nothing_can_refuse() -> None:
    assert agreements(Painter()) == 0


def test_closed_input_ends_the_turn_and_not_the_body() -> None:
    class Reads(Painter):
        def generate(self, input: Any) -> Picture:
            raise BufferClosed("camera")

        def process_output(self, outcome: StepOutcome) -> Any:
            raise AssertionError("there is nothing to decide about")

    assert run(Reads(), *turns(2)) == []


def test_a_place_an_author_made_read_only_stays_theirs() -> None:
    class Own(Painter):
        @property
        def device(self) -> str:  # type: ignore[override]
            return "tpu"

    model = Own()
    attach(model, SilentOutlet(), World(device="cuda:0"))
    assert model.device == "tpu"
