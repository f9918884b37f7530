"""Whatever is done in whatever order: legal moves only, and one answer to each command."""

import asyncio
import contextlib
import itertools
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests.unit.session.room import Room, Viewer, retained, settle

from reactor_runtime.errors import (
    SessionStateError,
    SessionUnavailableError,
    UnknownUploadError,
    UploadConflictError,
    UploadRefusedError,
)
from reactor_runtime.host.host_outlet import FailureKind
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.uploads.upload import UploadSpec
from reactor_runtime.uploads.upload_settings import UploadSettings
from reactor_runtime.wire.channel import Channel

LEGAL = {
    ("created", "initializing", "created"),
    ("created", "initialization_success", "ready"),
    ("ready", "start_session", "waiting"),
    ("waiting", "connection_opened", "streaming"),
    ("orphaned", "connection_opened", "streaming"),
    ("streaming", "connection_opened", "streaming"),
    ("streaming", "connection_closed", "streaming"),
    ("streaming", "connection_closed", "orphaned"),
    ("waiting", "timeout", "closing"),
    ("orphaned", "timeout", "closing"),
    ("waiting", "stop_session", "closing"),
    ("streaming", "stop_session", "closing"),
    ("orphaned", "stop_session", "closing"),
    ("closing", "cleanup_complete", "ready"),
    *((state, "eviction", "terminated") for state in
      ("ready", "waiting", "streaming", "orphaned", "closing")),
}  # fmt: skip
ARGUMENTS: dict[str, dict[str, Any]] = {"echo": {"text": "a"}, "set_speed": {"speed": 2}}
SETTINGS = SessionSettings(
    probe_timeout_s=0.001,
    start_wait_s=0.001,
    shutdown_s=0.01,
    max_pending=8,
    command_burst=4,
    commands_per_s=50,
    stats_interval_s=0,
    uploads=UploadSettings(min_free_bytes=0, resolve_timeout_s=0.05),
)


class AnyOrder(RuleBasedStateMachine):
    """Drives a session as clients, operators and a faulty model might."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.viewers: list[Viewer] = []
        self.asked: list[tuple[Viewer, str]] = []
        self.seen = 0
        self.folder = tempfile.TemporaryDirectory()
        self.slots: dict[str, str] = {}

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 10))

    @initialize()
    def load(self) -> None:
        async def make() -> None:
            files = replace(SETTINGS.uploads, parent=Path(self.folder.name))
            self.room = Room(replace(SETTINGS, uploads=files))
            await self.room.ready()

        self.run(make())

    @property
    def state(self) -> SessionState:
        return self.room.session.state

    # --- operators ---

    @rule()
    def start(self) -> None:
        async def start() -> None:
            try:
                await self.room.started()
            except (SessionStateError, SessionUnavailableError):
                return
            assert self.state.is_running

        self.run(start())

    @rule(moderate=st.booleans())
    def stop(self, moderate: bool) -> None:
        async def stop() -> None:
            try:
                await self.room.session.stop_session("why", moderate)
            except (SessionStateError, SessionUnavailableError):
                assert not self.state.is_running or self.state is SessionState.TERMINATED

        self.run(stop())

    @rule(seconds=st.sampled_from([0.01, 1.0, 25.0, 70.0]))
    def wait(self, seconds: float) -> None:
        self.run(self.room.clock.advance(seconds))

    # --- clients ---

    @rule(number=st.integers(5000, 5002), speaks=st.booleans(), has_control=st.booleans())
    def connect(self, number: int, speaks: bool, has_control: bool) -> None:
        async def connect() -> None:
            viewer = self.room.client(number, has_control=has_control)
            self.viewers.append(viewer)
            if speaks and has_control:
                viewer.ping()

        self.run(connect())

    @precondition(lambda self: self.viewers)
    @rule(data=st.data(), what=st.sampled_from(["vanish", "fall_silent", "hear_from", "fill"]))
    def change(self, data: st.DataObject, what: str) -> None:
        viewer = data.draw(st.sampled_from(self.viewers))

        async def change() -> None:
            if what == "fill":
                viewer.is_full = True
            else:
                getattr(viewer, what)()

        self.run(change())

    @precondition(lambda self: self.viewers)
    @rule(
        data=st.data(),
        name=st.sampled_from(["shout", "echo", "set_speed", "nothing"]),
        count=st.integers(1, 12),
    )
    def call(self, data: st.DataObject, name: str, count: int) -> None:
        viewer = data.draw(st.sampled_from(self.viewers))
        arguments = ARGUMENTS.get(name, {})

        async def call() -> None:
            for _ in range(count):
                if not viewer.is_closed and viewer.has_control:
                    request_id = f"data_{len(self.asked)}"
                    self.asked.append((viewer, request_id))
                    viewer.call(request_id, name, **arguments)

        self.run(call())

    @precondition(lambda self: self.viewers)
    @rule(data=st.data(), frame=st.binary(max_size=20) | st.text(max_size=20))
    def babble(self, data: st.DataObject, frame: bytes | str) -> None:
        viewer = data.draw(st.sampled_from(self.viewers))
        self.run(_say(viewer, frame))

    # --- files ---

    @rule(upload_id=st.sampled_from("abc"))
    def reserve(self, upload_id: str) -> None:
        async def reserve() -> None:
            spec = UploadSpec(upload_id=upload_id, name="a", mime_type="b", size=3)
            with contextlib.suppress(UploadConflictError):
                upload = await self.room.session.wiring.uploads.reserve(spec)
                self.slots[upload_id] = upload.slot

        self.run(reserve())

    @rule(upload_id=st.sampled_from("abc"), size=st.sampled_from([2, 3, 3, 3]))
    def send(self, upload_id: str, size: int) -> None:
        async def pieces() -> AsyncIterator[bytes]:
            yield b"x" * size

        async def send() -> None:
            slot = self.slots.get(upload_id, "")
            refusals = (UploadConflictError, UploadRefusedError, UnknownUploadError)
            with contextlib.suppress(*refusals):
                await self.room.session.wiring.uploads.receive(slot, None, pieces())

        self.run(send())

    @precondition(lambda self: self.viewers)
    @rule(data=st.data(), upload_id=st.sampled_from("abcd"), sets=st.booleans())
    def refer(self, data: st.DataObject, upload_id: str, sets: bool) -> None:
        viewer = data.draw(st.sampled_from(self.viewers))

        async def refer() -> None:
            if not viewer.is_closed and viewer.has_control:
                request_id = f"data_{len(self.asked)}"
                self.asked.append((viewer, request_id))
                file = {"upload_id": upload_id}
                name, argument = ("set_image", "image") if sets else ("show_file", "file")
                viewer.call(request_id, name, **{argument: file})

        self.run(refer())

    # --- the model ---

    @rule(count=st.integers(1, 10), code=st.sampled_from([None, "internal_error"]))
    def reply(self, count: int, code: str | None) -> None:
        async def reply() -> None:
            for call in list(self.room.host.pending.values())[:count]:
                self.room.host.reply(call, code=code)

        self.run(reply())

    @rule(fatal=st.integers(0, 9))
    def fail(self, fatal: int) -> None:
        async def fail() -> None:
            self.room.host.fail(FailureKind.STEP, fatal=fatal == 0)

        self.run(fail())

    @rule(prompt=st.booleans())
    def tarry(self, prompt: bool) -> None:
        async def tarry() -> None:
            self.room.host.is_prompt = prompt
            if prompt:
                self.room.host.open_session()
                if self.state is SessionState.CLOSING:
                    self.room.host.close_session()

        self.run(tarry())

    # --- what holds ---

    @invariant()
    def moves_are_legal(self) -> None:
        self.run(settle())
        events = retained(self.room.session.events)
        for event in events[self.seen :]:
            move = (event["from"], event["event"], event["to"])
            assert move in LEGAL or event["from"] == event["to"], move
        for before, after in itertools.pairwise(events):
            assert before["to"] == after["from"]
        self.seen = len(events)

    @invariant()
    def nothing_is_answered_twice(self) -> None:
        for viewer in self.viewers:
            if not viewer.speaks_json:
                counts = Counter(request_id for request_id, _ in viewer.answers())
                assert max(counts.values(), default=1) == 1

    @invariant()
    def somebody_is_here_exactly_while_streaming(self) -> None:
        if self.state is SessionState.STREAMING:
            assert any(not viewer.is_closed for viewer in self.viewers)

    def teardown(self) -> None:
        try:
            self.run(self.everyone_who_stays_is_answered())
        finally:
            self.run(self.room.session.close())
            self.loop.close()
            assert list(Path(self.folder.name).iterdir()) == []
            self.folder.cleanup()

    async def everyone_who_stays_is_answered(self) -> None:
        room = self.room
        staying = [(v, r) for v, r in self.asked if not v.is_closed and not v.is_full]
        for _ in range(100):
            for call in list(room.host.pending.values()):
                room.host.reply(call)
            await room.clock.advance(0.02)
        async with asyncio.timeout(5):  # files that never come are waited for in real time
            while any(r not in dict(v.answers()) for v, r in staying if _gets_answers(v)):
                for call in list(room.host.pending.values()):
                    room.host.reply(call)
                await room.clock.advance(0.02)
                await asyncio.sleep(0.005)
        for viewer, request_id in staying:
            if not _gets_answers(viewer):
                continue
            assert request_id in dict(viewer.answers()), (request_id, viewer.answers())


def _gets_answers(viewer: Viewer) -> bool:
    """Whether it is here still, and speaks a version in which commands are answered."""
    return not (viewer.is_closed or viewer.speaks_json)


async def _say(viewer: Viewer, frame: bytes | str) -> None:
    for channel in Channel:
        viewer.say(channel, frame)


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@given(
    frames=st.lists(
        st.tuples(st.sampled_from(Channel), st.binary(max_size=60) | st.text(max_size=60))
    )
)
@settings(deadline=None, max_examples=100)
def test_no_frame_ever_raises_or_ends_the_connection(
    frames: list[tuple[Channel, bytes | str]],
) -> None:
    async def run() -> None:
        room = Room()
        await room.ready()
        await room.started()
        for viewer in (room.client(5000), room.client(5001, has_control=False)):
            for channel, frame in frames:
                viewer.say(channel, frame)
            assert not viewer.is_closed
        await room.session.close()

    asyncio.run(run())
