"""Data channels: frames, bounds and misbehaving peers, with real aiortc clients."""

import asyncio
import time
from typing import Any

import pytest
from tests.unit.webrtc.viewer import (
    MakeSignaling,
    MakeViewer,
    PatternSource,
    RecordingListener,
    Viewer,
    needs_network,
)
from tests.waiting import until

from reactor_runtime.errors import ConnectionClosedError, MessageTooLargeError, SendBufferFullError
from reactor_runtime.session.connection import Connection
from reactor_runtime.wire.channel import Channel

pytestmark = needs_network


async def connect(viewer: Viewer, listener: RecordingListener) -> Any:
    viewer.open_channels()
    await viewer.connect()
    await until(lambda: viewer.connection_id in listener.open)
    return listener.open[viewer.connection_id]


async def test_frames_travel_both_ways_in_order(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await connect(viewer, listener)
    for number in range(20):
        viewer.channels["data"].send(f"text {number}")
        connection.send(Channel.CONTROL, bytes([number]))
    await until(lambda: len(listener.frames) == 20 and len(viewer.messages) == 20)
    assert listener.frames == [(Channel.DATA, f"text {n}") for n in range(20)]
    assert viewer.messages == [("control", bytes([n])) for n in range(20)]


async def test_what_arrives_before_the_connection_counts_as_open_is_held(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channel("data").on("open", lambda: viewer.channels["data"].send("early"))
    await viewer.connect()
    assert listener.frames == []
    viewer.open_channel("control")
    await until(lambda: listener.frames == [(Channel.DATA, "early")])
    assert listener.events == [("opened", viewer.connection_id)]


async def test_any_other_label_carries_data(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channel("control")
    viewer.open_channel("messages")
    await viewer.connect()
    await until(lambda: bool(listener.open))
    viewer.channels["messages"].send("hello")
    await until(lambda: listener.frames == [(Channel.DATA, "hello")])
    listener.open[viewer.connection_id].send(Channel.DATA, "hi")
    await until(lambda: viewer.messages == [("messages", "hi")])


async def test_the_largest_message_passes_and_a_larger_one_does_not(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await connect(viewer, listener)
    connection.send(Channel.DATA, b"x" * 262_144)
    viewer.channels["data"].send(b"y" * 262_144)
    await until(lambda: len(viewer.messages) == 1 and len(listener.frames) == 1, 20)
    assert len(viewer.messages[0][1]) == len(listener.frames[0][1]) == 262_144
    for frame in (b"x" * 262_145, "ä" * 131_073):
        with pytest.raises(MessageTooLargeError):
            connection.send(Channel.DATA, frame)


async def test_a_peer_that_takes_less_is_sent_no_more_than_that(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channels()
    sdp = (await viewer.make_offer()).replace("max-message-size:262144", "max-message-size:1000")
    await viewer.signaling.offer(viewer.connection_id, sdp)
    answer = await viewer.signaling.take_answer(viewer.connection_id, 1)
    assert answer is not None
    await viewer.accept(answer)
    await until(lambda: bool(listener.open))
    connection = listener.open[viewer.connection_id]
    assert connection.max_message_bytes == 1000
    with pytest.raises(MessageTooLargeError):
        connection.send(Channel.DATA, b"x" * 1001)


@pytest.mark.parametrize("size", [300_000, 3_000_000])
async def test_a_peer_that_sends_too_large_a_message_is_closed(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    size: int,
) -> None:
    viewer = make_viewer(make_signaling())
    await connect(viewer, listener)
    viewer.pc.sctp._remote_max_message_size = 0  # it does not care what we announced
    viewer.channels["data"].send(b"x" * size)
    await until(lambda: bool(listener.reasons), 20)
    assert "past the limit of 262144 bytes" in listener.reasons[0]
    assert listener.frames == []


async def test_a_channel_too_many_is_closed_and_the_others_work(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await connect(viewer, listener)
    more = [viewer.pc.createDataChannel(f"more-{n}") for n in range(4)]
    await until(lambda: [c.readyState for c in more] == ["open", "open", "closed", "closed"])
    connection.send(Channel.DATA, b"still here")
    await until(lambda: viewer.messages == [("data", b"still here")])


async def test_a_flood_of_channels_closes_the_connection(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    await connect(viewer, listener)
    for number in range(100):
        viewer.pc.createDataChannel(f"more-{number}")
    await until(lambda: listener.reasons == ["too many data channels"])


async def test_a_text_that_is_no_text_is_dropped(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    await connect(viewer, listener)
    sctp = viewer.pc.sctp
    await sctp._send(viewer.channels["data"].id, 51, b"\xff\xfe\xfd")
    viewer.channels["data"].send("sound")
    await until(lambda: listener.frames == [(Channel.DATA, "sound")])
    assert listener.reasons == []


async def test_a_peer_that_breaks_the_protocol_is_closed_with_the_reason(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    await connect(viewer, listener)
    sctp = viewer.pc.sctp
    opening = b"\x03\0\0\0\0\0\0\0\0\1\0\0x"
    await sctp._send(viewer.channels["data"].id, 50, opening)  # opened twice
    await until(lambda: bool(listener.reasons))
    assert listener.reasons == ["malformed packet (AssertionError)"]


async def test_a_peer_that_leaves_its_data_channel_is_gone(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await connect(viewer, listener)
    viewer.channels["data"].close()
    await until(lambda: listener.reasons == ["the peer has left"])
    with pytest.raises(ConnectionClosedError):
        connection.send(Channel.DATA, b"x")


async def test_a_peer_that_does_not_read_fills_a_bounded_buffer(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling(max_send_buffer_bytes=500_000))
    connection = await connect(viewer, listener)
    viewer.pc.sctp._receive_chunk = read_nothing
    for _ in range(3):
        connection.send(Channel.DATA, b"x" * 100_000, can_drop=True)
    with pytest.raises(SendBufferFullError):
        connection.send(Channel.DATA, b"x" * 100_000, can_drop=True)
    for _ in range(2):
        connection.send(Channel.DATA, b"x" * 100_000)
    with pytest.raises(ConnectionClosedError, match="does not read"):
        connection.send(Channel.DATA, b"x" * 100_000)
    assert connection.stats()["buffered_bytes"] <= 500_000


async def read_nothing(chunk: Any) -> None:
    """Stand for a peer whose process hangs."""


async def test_a_flood_slows_nobody_else_and_loses_nothing(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    """More than the budget is read later, not dropped: the last value sent arrives last."""
    signaling = make_signaling(max_messages_per_s=500)
    viewer = make_viewer(signaling)
    viewer.receive("main_video")
    connection = await connect(viewer, listener)
    connection.resume_track("main_video")
    await until(lambda: viewer.frames["main_video"])
    received: list[str | bytes] = []

    def note(connection: Connection, channel: Channel, frame: bytes | str) -> None:
        received.append(frame)

    listener.on_frame = note
    started = time.perf_counter()
    shown, made = len(viewer.frames["main_video"]), playing.number
    for number in range(1000):
        viewer.channels["data"].send(str(number))
        if number % 50 == 0:
            await asyncio.sleep(0)
    await until(lambda: len(received) == 1000, 60, lambda: f"{len(received)} of 1000 came")
    assert received == [str(number) for number in range(1000)]
    assert time.perf_counter() - started > 0.9  # a second's worth at once, then 500 a second
    assert len(viewer.frames["main_video"]) - shown > (playing.number - made) / 2
    assert await connection.probe(5)


async def test_broadcasts_to_many_viewers_do_not_hurt_pictures(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    signaling = make_signaling()
    watching = make_viewer(signaling)
    watching.receive("main_video")
    (await connect(watching, listener)).resume_track("main_video")
    for _ in range(4):
        await connect(make_viewer(signaling), listener)
    await until(lambda: watching.frames["main_video"])
    before, shown = playing.number, len(watching.frames["main_video"])
    for _ in range(50):
        for connection in listener.open.values():
            connection.send(Channel.DATA, b"state" * 20)
        await asyncio.sleep(0.01)
    await until(lambda: all(len(v) for v in [watching.messages]))
    made, seen = playing.number - before, len(watching.frames["main_video"]) - shown
    assert seen >= made * 0.8
