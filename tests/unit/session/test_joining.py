"""Who is let in and out, and what the model hears of it."""

from tests.unit.session.room import Room, Viewer, settle
from tests.waiting import until

from reactor_runtime.host.events import ClientJoined, ClientLeft, SessionStarted
from reactor_runtime.session.session_state import SessionState


async def test_joins_and_leaves_reach_the_model_in_order(started: Room) -> None:
    first = started.client(5000)
    second = started.client(5001)
    first.vanish()
    second.vanish()
    events = started.host.posted
    assert isinstance(events[0], SessionStarted)
    assert events[1:] == [
        ClientJoined(client_id="client-5000", joined_at=1_700_000_000.0),
        ClientJoined(client_id="client-5001", joined_at=1_700_000_000.0),
        ClientLeft(client_id="client-5000"),
        ClientLeft(client_id="client-5001"),
    ]
    assert started.transitions()[-4:] == [
        ("connection_opened", "waiting", "streaming"),
        ("connection_opened", "streaming", "streaming"),
        ("connection_closed", "streaming", "streaming"),
        ("connection_closed", "streaming", "orphaned"),
    ]


async def test_the_model_hears_what_each_client_takes(started: Room) -> None:
    for number, takes in ((5000, 1000), (5001, 0)):
        Viewer(started.session, number, max_message_bytes=takes).open()
    joins = [event for event in started.host.posted if isinstance(event, ClientJoined)]
    # A client without channels gets no messages: it is no reason to refuse any.
    assert [event.max_message_bytes for event in joins] == [1000, 262_144]


async def test_outside_a_session_nobody_is_let_in(room: Room) -> None:
    viewer = room.client()
    await until(lambda: viewer.is_closed)
    assert room.host.posted == []
    assert room.session.state is SessionState.READY


async def test_nobody_is_let_into_a_closing_session(started: Room) -> None:
    started.host.is_prompt = False
    await started.session.stop_session()
    viewer = started.client()
    await until(lambda: viewer.is_closed)
    assert started.session.state is SessionState.CLOSING
    started.host.close_session()


async def test_a_client_leaves_once(started: Room) -> None:
    viewer = started.client()
    viewer.vanish()
    started.session.closed(viewer, "again")
    assert [type(event) for event in started.host.posted].count(ClientLeft) == 1


async def test_opening_twice_joins_once(started: Room) -> None:
    viewer = started.client()
    viewer.open()
    await settle()
    assert [type(event) for event in started.host.posted].count(ClientJoined) == 1
    assert not viewer.is_closed


async def test_a_reconnecting_client_replaces_its_old_connection(started: Room) -> None:
    old = started.client(5000)
    new = started.v1(5000)
    started.host.send("tick", {}, client_id="client-5000")
    await until(lambda: new.sent != [])
    assert old.is_closed
    assert started.session.state is SessionState.STREAMING
    kinds = [type(event) for event in started.host.posted[1:]]
    assert kinds == [ClientJoined, ClientLeft, ClientJoined]


async def test_a_stranger_is_nobody(started: Room) -> None:
    stranger = Viewer(started.session, 5009)
    stranger.ping()
    started.session.closed(stranger, "never opened")
    assert not started.session.wants_media(stranger, "webcam")
    await settle()
    assert started.session.state is SessionState.WAITING
