"""A session on a real host: a real model on its own thread, real media, no network."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from tests.unit.session.room import Viewer
from tests.waiting import until

from reactor_runtime import (
    ClientInfo,
    CommandError,
    InputField,
    InputState,
    ModelMessage,
    Output,
    ReactorPipeline,
    Video,
    connected,
    disconnected,
    event,
    session_ended,
    session_started,
)
from reactor_runtime.clock import SystemClock
from reactor_runtime.errors import SessionUnavailableError
from reactor_runtime.host.in_process_host import InProcessHost
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.session.session import Session
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_state import SessionState

FRAME = np.zeros((16, 16, 3), np.uint8)
CALLS: list[str] = []


class Welcome(ModelMessage):
    speed: float


class Speed(ModelMessage):
    speed: float


class Dial(InputState):
    speed: float = InputField(default=1.0, ge=0, le=10)
    broken: bool = False


class Shown(Output):
    main_video: Video


class Dialled(ReactorPipeline):
    """Tells its speed, and breaks when told to."""

    fps = 100
    fails_as_it_starts = False
    state: Dial

    def load(self, config_path: Any) -> None:
        """Load nothing."""

    @session_started
    def begin(self) -> None:
        CALLS.append("started")
        if type(self).fails_as_it_starts:
            raise KeyError("on purpose")

    @session_ended
    def end(self) -> None:
        CALLS.append("ended")

    @connected
    async def welcome(self, client: ClientInfo) -> None:
        CALLS.append("connected")
        await client.send(Welcome(speed=self.state.speed))

    @disconnected
    def bye(self) -> None:
        CALLS.append("disconnected")

    @event
    def tell(self) -> Speed:
        return Speed(speed=self.state.speed)

    @event
    def refuse(self) -> None:
        raise CommandError("too_dark", "light a lamp")

    @event
    def trip(self) -> None:
        raise ValueError("a secret")

    def inference(self) -> Any:
        while True:
            if self.state.broken:
                raise ValueError("a secret")
            yield Shown(main_video=FRAME)


class Served:
    """The parts that ``serve`` joins, less the network."""

    def __init__(self) -> None:
        clock, self.metrics = SystemClock(), Metrics()
        tracks = [t for t in ModelContract.of(Dialled).tracks if t.direction.value == "out"]
        self.stream = LiveStream(
            tracks, settings=MediaSettings(), clock=clock, metrics=self.metrics
        )
        outlet = SessionOutlet(self.stream, clock=clock, metrics=self.metrics)
        host = InProcessHost(Dialled, outlet=outlet, clock=clock)
        self.session = Session(host, outlet=outlet, clock=clock, metrics=self.metrics)

    async def state(self, state: SessionState) -> None:
        await until(lambda: self.session.state is state, timeout_s=10)

    def viewer(self, connection_id: int = 5000) -> Viewer:
        viewer = Viewer(self.session, connection_id)
        viewer.open()
        viewer.ping()
        return viewer


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    CALLS.clear()
    served = Served()
    served.stream.start(asyncio.get_running_loop())
    async with served.session:
        await served.state(SessionState.READY)
        yield served
    served.stream.stop()


async def test_a_message_from_the_connect_hook_reaches_the_client(served: Served) -> None:
    await served.session.start_session({})
    viewer = served.viewer()
    await until(lambda: viewer.on_data != [])
    assert viewer.on_data[0].message.type == "welcome"


async def test_every_kind_of_answer(served: Served) -> None:
    await served.session.start_session({})
    viewer = served.viewer()
    viewer.call("data_1", "set_speed", speed=3)
    viewer.call("data_2", "tell")
    viewer.call("data_3", "refuse")
    viewer.call("data_4", "trip")
    viewer.call("data_5", "set_speed", speed=30)
    await until(lambda: len(viewer.answers()) == 5)
    assert dict(viewer.answers()) == {
        "data_1": "ok",
        "data_2": "speed",
        "data_3": "too_dark",
        "data_4": "internal_error",
        "data_5": "invalid_command",
    }
    [told] = [frame for frame in viewer.on_data if frame.request_id == "data_2"]
    assert dict(told.message.data) == {"speed": 3.0}
    assert "secret" not in str(viewer.on_data)


async def test_a_flood_is_answered_whole_and_its_last_value_is_in_force(served: Served) -> None:
    await served.session.start_session({})
    viewer = served.viewer()
    for n in range(2000):
        viewer.call(f"data_{n}", "set_speed", speed=n % 10)
        if n % 50 == 0:
            await asyncio.sleep(0)
    await until(lambda: len(viewer.answers()) == 2000)
    assert len({request_id for request_id, _ in viewer.answers()}) == 2000
    viewer.call("last", "tell")
    await until(lambda: viewer.on_data[-1].request_id == "last")
    assert dict(viewer.on_data[-1].message.data) == {"speed": 9.0}


async def test_a_step_that_raises_ends_its_session_and_no_other(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    await served.session.start_session({})
    viewer = served.viewer()
    viewer.call("data_1", "set_broken", broken=True)
    await served.state(SessionState.READY)
    errors = [frame for frame in viewer.on_data if frame.error.code == "internal_error"]
    assert len(errors) == 1
    assert "secret" not in errors[0].error.message
    assert viewer.on_control[-1].session_ended.reason == "error"
    assert viewer.is_closed
    assert caplog.text.count("Traceback") == 1
    assert CALLS == ["started", "connected", "ended"]
    await served.session.start_session({})
    again = served.viewer()
    again.call("data_1", "tell")
    await until(lambda: ("data_1", "speed") in again.answers())
    assert served.session.health().ok


async def test_a_start_hook_that_raises_fails_that_start_only(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dialled, "fails_as_it_starts", True)
    with pytest.raises(SessionUnavailableError):
        await served.session.start_session({})
    monkeypatch.setattr(Dialled, "fails_as_it_starts", False)
    assert (await served.session.start_session({}))["state"] == "waiting"


async def test_a_stop_runs_the_end_hook_once_and_no_leave(served: Served) -> None:
    await served.session.start_session({})
    served.viewer(5000)
    served.viewer(5001).vanish()
    await served.session.stop_session("enough")
    await served.state(SessionState.READY)
    assert CALLS.count("ended") == 1
    assert CALLS.count("disconnected") == 1  # of the one who left before


async def test_twenty_rounds_leave_a_clean_state(served: Served) -> None:
    for _ in range(20):
        await served.session.start_session({})
        viewer = served.viewer()
        await _welcomed(viewer)
        viewer.call("data_1", "set_speed", speed=7)
        viewer.vanish()
        await served.session.stop_session()
        await served.state(SessionState.READY)
    assert CALLS.count("disconnected") == CALLS.count("connected") == 20


async def _welcomed(viewer: Viewer) -> None:
    await until(lambda: viewer.on_data != [])
    assert dict(viewer.on_data[0].message.data) == {"speed": 1.0}
