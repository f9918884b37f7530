"""What authors' own tests use: an instance that nobody serves, and what they construct."""

import asyncio
import dataclasses
import threading
import time
from typing import Any
from unittest.mock import AsyncMock, Mock

import numpy as np
import pytest
from tests.compat.adapters.decides_about_errors import DecidesAboutErrors, RiskState
from tests.compat.adapters.decorated_as_dataclasses import PosedState
from tests.compat.adapters.is_told_to_run import IsToldToRun, MachineState
from tests.compat.adapters.keeps_private_state import KeepsPrivateState, RichState
from tests.compat.adapters.knows_its_clients import KnowsItsClients
from tests.compat.adapters.looks_through_three_cameras import LooksThroughThreeCameras, Rig
from tests.compat.adapters.loops_by_itself import LoopsByItself
from tests.compat.adapters.owns_its_names import OwnsItsNames
from tests.compat.adapters.paint import Picture, grey
from tests.compat.adapters.pins_its_rate import PinsItsRate
from tests.compat.adapters.shares_an_input_field import SHARE, SharesAnInputField
from tests.compat.adapters.takes_files import TakesFiles
from tests.compat.adapters.talks_full_duplex import TalksFullDuplex
from tests.compat.adapters.watches_from_a_thread import WatchesFromAThread
from tests.compat.adapters.works_in_halves import Halves
from tests.compat.adapters.yields_and_idles import IdleState, YieldsAndIdles
from tests.compat.adapters.yields_asynchronously import YieldsAsynchronously

from reactor_runtime import (
    Audio,
    BufferClosed,
    ClientInfo,
    CommandError,
    Idle,
    InputBuffer,
    InputField,
    InputFrame,
    InputState,
    MediaInput,
    Output,
    ReactorApp,
    ReactorModel,
    ReactorPipeline,
    ReadMode,
    Shard,
    StepCompleted,
    StepOutcome,
    TrackPayload,
    UploadedFile,
    Video,
    event,
    session_started,
)
from reactor_runtime.distributed import DistributedRunner
from reactor_runtime.interface.model import ModelContract
from reactor_runtime.testing import serve_model

# --- an instance that nobody serves ----------------------------------------------------------


def test_nothing_is_needed_to_make_one() -> None:
    model: Any = PinsItsRate()
    assert (model.rank, model.world_size, model.local_rank, model.seed) == (0, 1, 0, 0)
    assert (model.device, model.is_leader, model.state) == ("cpu", True, None)
    assert "inference" not in vars(ReactorPipeline)
    assert "fps" not in vars(type("Unpaced", (ReactorApp,), {}))
    assert not {"_engine", "_config", "_device", "session", "camera"} & set(dir(ReactorModel))


def test_several_loops_after_another_and_none_at_first() -> None:
    model = YieldsAsynchronously()
    model._on_loop_ready()
    assert not model.connected.is_set()
    model.connected.set()

    async def use() -> bool:
        await asyncio.wait_for(model.connected.wait(), 5)
        await model.emit(Picture(main_video=grey(1)))
        await model.complete_step(StepCompleted(files={"a": b""}))
        return bool(model.connected.is_set())

    assert [asyncio.run(use()) for _ in range(3)] == [True, True, True]
    model.connected.clear()

    async def wait_for_it() -> None:
        waiting = asyncio.ensure_future(model.connected.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        model.connected.set()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(wait_for_it())


def test_what_goes_out_may_be_replaced() -> None:
    model: Any = KnowsItsClients()
    model.send, model.emit = AsyncMock(), AsyncMock()
    model.output, model.state = Mock(), object()
    model.input = Mock()
    asyncio.run(model.shout(client=ClientInfo(id="a", joined_at=1.0)))
    model.send.assert_awaited_once()
    assert model.send.await_args.args[0].to == "hey"
    model.output.flush()
    model.output.flush.assert_called_once_with()
    model.output.fps = 5
    assert model.output.fps == 5


def test_what_goes_out_is_nothing_where_nobody_serves() -> None:
    model = KnowsItsClients()
    asyncio.run(model.shout())
    model.output.flush()
    model.output.fps = 12.5
    asyncio.run(ClientInfo(id="a", joined_at=0.0).send(None))  # type: ignore[arg-type]


def test_handlers_are_plain_methods() -> None:
    machine = IsToldToRun()
    machine.state = MachineState()
    assert machine.start().is_running is True
    assert machine.step().position == 1
    assert machine.step(by=3).position == 4
    assert asyncio.run(machine.run_the_machine()).position == 4
    with pytest.raises(KeyError):
        KeyErrorOf().fail()
    sharing = SharesAnInputField()
    sharing.keep()
    assert sharing.kept is SHARE  # an argument left out is the object itself
    sharing.keep(0.75)
    assert sharing.kept == 0.75
    assert asyncio.run(sharing.half(of=0.5)).total == 0.25


class KeyErrorOf(ReactorModel):
    @event
    def fail(self) -> None:
        raise KeyError("as it is")


def test_generators_are_plain_generators() -> None:
    model = YieldsAndIdles()
    model.state = IdleState(level=61)
    steps = model.inference()
    assert next(steps) is None
    assert next(steps) is Idle
    assert (next(steps).main_video == 61).all()

    async def first() -> Picture:
        model = YieldsAsynchronously()
        model.state = Mock(level=9)
        return await anext(model.inference())

    assert asyncio.run(first()).main_video.shape == (3, 48, 64, 3)


def test_step_hooks_are_plain_methods() -> None:
    model = DecidesAboutErrors()
    model.state = RiskState(fails=True)
    assert model.process_input() is model.state
    with pytest.raises(ArithmeticError) as failure:
        model.generate(model.state)
    report = model.process_output(StepOutcome(error=failure.value, elapsed=0.1))
    assert isinstance(report, StepCompleted)
    assert report.files == {"why.txt": b"no picture this time"}
    shown = Picture(main_video=grey(3))
    assert model.process_output(StepOutcome(result=shown)) is shown
    assert ReactorModel().process_output(StepOutcome(result=Idle)) is None
    with pytest.raises(ArithmeticError):
        StepOutcome(error=failure.value).to_output()


def test_input_buffers_are_filled_by_hand() -> None:
    model = LooksThroughThreeCameras()
    model.rig.left.push(InputFrame(grey(1)))
    assert model.rig.left.available == 1
    buffer = InputBuffer()
    for value in range(1, 131):
        buffer.push(InputFrame(np.full((1, 1, 3), value, np.uint8), capture_time_us=value))
    assert (buffer.available, buffer.total_received) == (128, 130)
    assert [f.capture_time_us for f in buffer.try_read(2, mode=ReadMode.FIFO) or ()] == [3, 4]
    assert [f.capture_time_us for f in buffer.try_read() or ()] == [130]
    assert buffer.try_read() is None
    with pytest.raises(TimeoutError):
        asyncio.run(buffer.read(timeout=0.01))
    buffer.push(InputFrame(grey(1)))
    buffer.clear()
    assert buffer.available == 0
    buffer.close()
    assert buffer.closed
    with pytest.raises(BufferClosed):
        asyncio.run(buffer.read())


def test_a_thread_that_reads_the_state_of_nobody_gets_none() -> None:
    seen: list[Any] = []
    model = WatchesFromAThread()
    reader = threading.Thread(target=lambda: seen.append(model.state))
    reader.start()
    reader.join()
    assert seen == [None]


def test_a_loop_of_its_own_ends_where_nobody_serves() -> None:
    async def run() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(LoopsByItself().run(), 0.05)  # waits for somebody

    asyncio.run(run())
    asyncio.run(DecidesAboutErrors().run())


# --- what authors construct and what they declare --------------------------------------------


def test_outputs_have_exactly_their_tracks() -> None:
    picture = Picture(main_video=grey(1))
    assert picture.main_video.shape == (48, 64, 3)
    for wrong in ({}, {"main_video": 1, "other": 2}):
        with pytest.raises(TypeError):
            Picture(**wrong)
    payload = TrackPayload(grey(1), metadata={"a": 1})
    assert payload.metadata == {"a": 1}
    assert Picture(main_video=payload).main_video is payload
    part = grey(1)
    assert Shard(part, axis="height", start=0, of=96).part is part


def test_states_are_made_changed_and_compared() -> None:
    state = RichState(prompt="a dog")
    assert (state.prompt, state.strength, state._steps) == ("a dog", 0.5, 0)
    assert state == RichState(prompt="a dog")
    assert dataclasses.is_dataclass(PosedState)
    assert PosedState(level=3).level == 3
    assert PosedState().level == 30
    assert dataclasses.replace(PosedState(), level=4).level == 4
    assert TakesFiles.__annotations__["state"] == "FileState"
    file = UploadedFile(name="a", mime_type="b/c", data=b"123")
    assert (file.name, file.mime_type, file.data, file.size) == ("a", "b/c", b"123", 3)
    error = CommandError("code", "words")
    assert (error.code, error.message) == ("code", "words")


def test_a_contract_is_read_as_shipped_models_read_it() -> None:
    contract = ModelContract.of(KeepsPrivateState)
    assert set(contract.commands) == {
        "set_prompt",
        "set_strength",
        "set_mode",
        "poke",
        "renew",
        "show",
    }
    field = contract.commands["set_prompt"].command.__command_fields__["prompt"]
    assert (field.info.max_length, field.info.description) == (40, "What to paint")
    assert set(contract.messages) == {"shown"}
    tracks = {track.name for track in ModelContract.of(TalksFullDuplex).tracks}
    assert tracks == {"mic", "main_video", "main_audio"}
    lifecycle = ModelContract.of(KnowsItsClients).lifecycle
    assert lifecycle.connected is not None
    assert lifecycle.session_started is None
    document = contract.render_schema().to_openapi()
    assert document["openapi"].startswith("3.1")
    assert set(Rig.__tracks__) == {"left", "middle", "right"}


def test_what_makes_no_sense_is_an_error_when_the_class_is_defined() -> None:
    with pytest.raises(TypeError, match="level"):

        class OutOfRange(InputState):
            level: int = InputField(default=11, le=10)

    with pytest.raises(TypeError, match="words"):

        class Mutable(InputState):
            words: list[str] = InputField(default=[])

    with pytest.raises(TypeError, match="_hidden"):

        class Undefaulted(InputState):
            _hidden: int

    with pytest.raises(TypeError):

        class Twice(ReactorModel):
            @session_started
            def one(self) -> None: ...

            @session_started
            def two(self) -> None: ...

    with pytest.raises(TypeError, match="connected"):

        class Reserved(ReactorModel):
            @event(name="connected")
            def mine(self) -> None: ...


def test_a_pipeline_needs_a_state() -> None:
    class Stateless(ReactorPipeline):
        def inference(self) -> Any:
            yield None

    with pytest.raises(TypeError, match="state"):
        Stateless()


def test_markers_inherit_and_names_are_the_author_s() -> None:
    class Deep(Audio):
        sample_rate = 8_000

    class Deeper(Deep):
        pass

    class Sound(MediaInput):
        deep: Deeper

    class Out(Output):
        main_video: Video
        voice: Deep

    class Model(ReactorModel):
        ears: Sound

        def generate(self, input: Any) -> Out | None:
            return None

    rates = {track.name: track.sample_rate for track in ModelContract.of(Model).tracks}
    assert rates == {"deep": 8_000, "main_video": None, "voice": 8_000}
    model = OwnsItsNames()
    assert model.start() == "started"
    assert model._engine == "my _engine"  # type: ignore[attr-defined]


def test_a_queue_of_nothing_is_refused_at_the_start() -> None:
    class NoQueue(PinsItsRate):
        buffer_size = 0

    with pytest.raises(Exception, match="buffer_size"), serve_model(NoQueue):
        pass


# --- the other half --------------------------------------------------------------------------


@pytest.mark.parametrize("world_size", [1, 2])
def test_a_runner_drives_halves(world_size: int) -> None:
    runner = DistributedRunner(
        Halves,
        world_size=world_size,
        load_kwargs={"offset": 10},
        start_timeout=60,
        call_timeout=30,
        init_process_group=False,
    )
    runner.start()
    try:
        assert runner.healthy
        assert runner.world_size == world_size
        first = runner.generate({"scale": 2.0})
        assert first.flags.c_contiguous
        assert first.flags.writeable
        assert first[0].tolist() == [11.0, 17.0]
        assert runner.generate({"scale": 0.0})[0, 0] == 12.0
        runner.reset()
        assert runner.generate({"scale": 0.0})[0, 0] == 11.0
        with pytest.raises(ValueError, match="not negative"):
            runner.generate({"scale": -1.0})
    finally:
        runner.shutdown()
    deadline = time.monotonic() + 10
    while runner.healthy and time.monotonic() < deadline:
        pass
    assert not runner.healthy
