"""A start against an occupied session: whom it may replace, and how fast."""

import asyncio
import time

import pytest
from tests.unit.session.room import Room, Viewer, settle

from reactor_runtime.errors import ConnectionClosedError, SessionStateError
from reactor_runtime.host.events import ClientLeft, SessionEnded, SessionStarted
from reactor_runtime.session.session_settings import SessionSettings

QUICK = SessionSettings(probe_timeout_s=0.05)


@pytest.fixture
async def room() -> Room:
    room = Room(QUICK)
    await room.ready()
    await room.started()
    return room


async def test_a_client_that_spoke_just_now_is_not_even_asked(room: Room) -> None:
    viewer = room.v1()
    with pytest.raises(SessionStateError):
        await room.started()
    assert viewer.probes == 0


async def test_one_that_was_silent_but_answers_keeps_the_session(room: Room) -> None:
    viewer = room.v1()
    viewer.fall_silent(30, answers=True)
    with pytest.raises(SessionStateError):
        await room.started()
    assert viewer.probes == 1
    assert not viewer.is_closed


async def test_one_living_client_is_enough(room: Room) -> None:
    dead, alive = room.v1(5000), room.v1(5001)
    dead.fall_silent()
    with pytest.raises(SessionStateError):
        await room.started()
    assert not alive.is_closed


async def test_a_session_of_the_dead_is_taken_over(room: Room) -> None:
    viewers = [room.v1(5000), room.v1(5001), room.client(5002)]  # the last has not said a word
    for viewer in viewers:
        viewer.fall_silent()
    descriptor = await room.started()
    assert descriptor["state"] == "waiting"
    assert all(viewer.is_closed for viewer in viewers)
    for viewer in viewers:  # one that only slept finds out why
        assert viewer.on_data[-1].error.code == "session_ended"
        assert viewer.on_control[-1].session_ended.reason == "timed_out"
    assert room.ended == ["timed_out"]
    kinds = [type(event) for event in room.host.posted]
    assert kinds[-5:] == [ClientLeft, ClientLeft, ClientLeft, SessionEnded, SessionStarted]
    assert room.transitions()[-3:] == [
        ("timeout", "orphaned", "closing"),
        ("cleanup_complete", "closing", "ready"),
        ("start_session", "ready", "waiting"),
    ]


async def test_all_are_asked_at_once_and_it_takes_no_more_than_three_seconds() -> None:
    room = Room()
    await room.ready()
    await room.started()
    for n in range(20):
        room.v1(5000 + n).fall_silent()
    began = time.monotonic()
    await room.started()
    assert 2.0 <= time.monotonic() - began < 3.0
    await room.session.close()


async def test_an_orphaned_session_is_taken_over_at_once(room: Room) -> None:
    room.v1().vanish()
    await room.started()
    assert room.ended == ["timed_out"]


async def test_a_waiting_session_yields_once_nobody_can_still_be_connecting(room: Room) -> None:
    await room.clock.advance(29)
    with pytest.raises(SessionStateError):
        await room.started()
    await room.clock.advance(2)
    await room.started()
    assert room.ended == ["timed_out"]


async def test_a_client_that_speaks_while_it_is_asked_keeps_the_session(room: Room) -> None:
    viewer = room.v1()
    viewer.fall_silent()
    async with asyncio.TaskGroup() as group:
        start = group.create_task(_try_start(room))
        await settle()
        viewer.hear_from()
    assert start.result() == "refused"
    assert not viewer.is_closed


async def test_a_client_that_joins_meanwhile_keeps_the_session(room: Room) -> None:
    room.v1(5000).fall_silent()
    async with asyncio.TaskGroup() as group:
        start = group.create_task(_try_start(room))
        await settle()
        newcomer = room.v1(5001)
    assert start.result() == "refused"
    assert not newcomer.is_closed


async def test_a_session_that_is_stopped_meanwhile_makes_room(room: Room) -> None:
    room.v1().fall_silent()
    async with asyncio.TaskGroup() as group:
        start = group.create_task(_try_start(room))
        await settle()
        await room.session.stop_session()
    assert start.result() == "started"


async def test_of_two_starts_one_gets_the_session(room: Room) -> None:
    room.v1().vanish()
    outcomes = await asyncio.gather(_try_start(room), _try_start(room), _try_start(room))
    assert sorted(outcomes) == ["refused", "refused", "started"]


async def test_a_probe_that_hangs_is_no_answer() -> None:
    room = Room(QUICK)
    await room.ready()
    await room.started()
    viewer = _Stuck(room.session, 5000)
    viewer.open()
    viewer.fall_silent()
    async with asyncio.timeout(5):
        await room.started()


@pytest.mark.parametrize("error", [ConnectionClosedError(5000), ConnectionError("lost")])
async def test_a_probe_that_fails_is_no_answer(room: Room, error: Exception) -> None:
    viewer = _Broken(room.session, 5000)
    viewer.error = error
    viewer.open()
    viewer.fall_silent()
    await room.started()


async def test_a_session_stopped_while_its_client_answers_makes_room(room: Room) -> None:
    viewer = _Late(room.session, 5000)
    viewer.open()
    viewer.fall_silent(answers=True)
    async with asyncio.TaskGroup() as group:
        start = group.create_task(_try_start(room))
        await settle()
        await room.session.stop_session()
        viewer.release.set()
    assert start.result() == "started"


class _Broken(Viewer):
    error: Exception

    async def probe(self, timeout_s: float) -> bool:
        raise self.error


class _Late(Viewer):
    def open(self) -> None:
        self.release = asyncio.Event()
        super().open()

    async def probe(self, timeout_s: float) -> bool:
        await self.release.wait()
        return True


class _Stuck(Viewer):
    async def probe(self, timeout_s: float) -> bool:
        await asyncio.sleep(timeout_s + 60)
        return True


async def _try_start(room: Room) -> str:
    try:
        await room.started()
    except SessionStateError:
        return "refused"
    return "started"
