"""A session with a fake host, fake connections and a fake clock, and what its clients do."""

import json
from typing import Any, Literal

from tests.waiting import until

from reactor_runtime import (
    InputField,
    InputState,
    ModelMessage,
    Output,
    ReactorPipeline,
    UploadedFile,
    Video,
    event,
)
from reactor_runtime.errors import ClipRefusedError
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.media_input import MediaInput
from reactor_runtime.session.recorder import Recorder
from reactor_runtime.session.session import Session
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.testing.fake_clock import FakeClock, settle
from reactor_runtime.testing.fake_connection import FakeConnection
from reactor_runtime.testing.fake_host import FakeHost
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel
from reactor_runtime.wire.messages import ClipReady


class Pong(ModelMessage):
    text: str


class World(InputState):
    speed: float = InputField(default=1.0, ge=0, le=10)
    mode: Literal["day", "night"] = "day"
    image: UploadedFile | None = None


class Show(Output):
    main_video: Video


class Camera(MediaInput):
    webcam: Video


class Steered(ReactorPipeline):
    """A model nobody runs: its contract is what counts."""

    state: World
    camera: Camera

    @event(description="Say it back")
    def echo(self, text: str) -> Pong:
        return Pong(text=text)

    @event
    def shout(self) -> None: ...

    @event
    def show_file(self, file: UploadedFile) -> None: ...

    def inference(self) -> Any:
        while True:
            yield Show(main_video=None)


class FakeRecorder:
    """Implements ``Recorder``: notes what it is told, promises what a test says."""

    chunk_s = 4.0

    def __init__(self) -> None:
        self.states: list[SessionState] = []
        self.names: list[str] = []
        self.asked: list[float | None] = []
        self.refusal = ""

    def follow(self, state: SessionState) -> None:
        self.states.append(state)

    def name(self, given: str) -> None:
        self.names.append(given)

    def clip(self, duration_s: float | None) -> ClipReady:
        self.asked.append(duration_s)
        if self.refusal:
            raise ClipRefusedError(self.refusal)
        return ClipReady(
            recording_id="r" * 32,
            kind="recording" if duration_s is None else "snap",
            start_marker=6.933,
            end_marker=9.933,
            now_marker=9.933,
            predicted_ready_at_ms=1_700_000_000_123,
            playlist_url="/clips?session_id=r&start=6.933&end=9.933",
        )


class Room:
    """One session and everything around it."""

    def __init__(
        self,
        settings: SessionSettings | None = None,
        model: type = Steered,
        recorder: Recorder | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.metrics = Metrics()
        self.outlet = SessionOutlet(None, clock=self.clock, metrics=self.metrics)
        self.host = FakeHost(model, self.outlet)
        self.ended: list[str] = []
        self.terminated: list[str] = []
        self.session = Session(
            self.host,
            outlet=self.outlet,
            recorder=recorder,
            settings=settings or SessionSettings(),
            clock=self.clock,
            metrics=self.metrics,
        )
        self.session.on_session_end = self._note_end
        self.session.on_terminated = self.terminated.append

    async def _note_end(self, reason: str) -> None:
        self.ended.append(reason)

    async def ready(self) -> None:
        await self.session.start()
        await self.state(SessionState.READY)

    async def started(self) -> dict[str, Any]:
        return await self.session.start_session({})

    async def state(self, state: SessionState) -> None:
        await until(lambda: self.session.state is state)

    def client(self, connection_id: int = 5000, *, has_control: bool = True) -> "Viewer":
        viewer = Viewer(self.session, connection_id, has_control=has_control)
        viewer.open()
        return viewer

    def v1(self, connection_id: int = 5000) -> "Viewer":
        viewer = self.client(connection_id)
        viewer.ping()
        return viewer

    def transitions(self) -> list[tuple[str, str, str]]:
        log = self.session.events
        return [(e["event"], e["from"], e["to"]) for e in retained(log)]


def retained(log: Any) -> list[dict[str, Any]]:
    """Everything in an event log, without waiting for more."""
    reader = log.subscribe(0)
    found: list[dict[str, Any]] = []
    for _ in range(log.last_seq):
        step = reader.__anext__()
        try:
            step.send(None)
        except StopIteration as stop:
            found.append(dict(stop.value.payload))
    return found


class Viewer(FakeConnection):
    """A client who speaks protobuf, or JSON when asked to."""

    def ping(self) -> None:
        self.control(ping=pb.Ping())

    def control(self, request_id: str = "", **payload: Any) -> None:
        kind = 1 if request_id else 3
        envelope = pb.ControlClientMessage(request_id=request_id, kind=kind, **payload)
        self.say(Channel.CONTROL, envelope.SerializeToString())

    def call(self, request_id: str, name: str, **arguments: Any) -> None:
        envelope = pb.DataClientMessage(request_id=request_id, kind=1)
        envelope.command.type = name
        envelope.command.data.update(arguments)
        self.say(Channel.DATA, envelope.SerializeToString())

    def call_json(self, name: str, **arguments: Any) -> None:
        content = {"scope": "application", "data": {"type": name, "data": arguments}}
        self.say(Channel.DATA, json.dumps(content))

    @property
    def speaks_json(self) -> bool:
        """Whether it was sent text, or would be."""
        return not self.has_control or any(isinstance(frame, str) for _, frame in self.sent)

    @property
    def on_data(self) -> list[Any]:
        """Protobuf frames received on ``data``."""
        return [_parse(pb.DataServerMessage(), f) for c, f in self.sent if c is Channel.DATA]

    @property
    def on_control(self) -> list[Any]:
        """Protobuf frames received on ``control``."""
        return [_parse(pb.ControlServerMessage(), f) for c, f in self.sent if c is Channel.CONTROL]

    @property
    def texts(self) -> list[Any]:
        """JSON frames received."""
        return [json.loads(frame) for _, frame in self.sent]

    def answers(self) -> list[tuple[str, str]]:
        """Each answer on ``data`` as its request id and what it is: ``ok``, a message, a code."""
        found = []
        for frame in self.on_data:
            if frame.request_id:
                kind = frame.WhichOneof("payload")
                what = {"message": frame.message.type, "error": frame.error.code}.get(kind, "ok")
                found.append((frame.request_id, what))
        return found


def _parse(envelope: Any, frame: bytes | str) -> Any:
    assert isinstance(frame, bytes)
    envelope.ParseFromString(frame)
    return envelope


__all__ = ["Room", "Steered", "Viewer", "retained", "settle", "until"]
