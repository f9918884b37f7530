"""From an offer to a live connection and its end, with real aiortc clients."""

import asyncio
import os
import socket
import time
from typing import Any

import pytest
from aiortc import RTCSessionDescription
from tests.e2e.strain import strain
from tests.unit.webrtc.offers import application, offer, video
from tests.unit.webrtc.viewer import (
    VIDEO,
    MakeSignaling,
    MakeViewer,
    PatternSource,
    RecordingListener,
    Viewer,
    needs_network,
)
from tests.waiting import until

from reactor_runtime.errors import (
    ConnectionIdError,
    ConnectionLimitError,
    NegotiationError,
    OfferError,
    PortTakenError,
    UnknownConnectionError,
)
from reactor_runtime.metrics import Metrics
from reactor_runtime.webrtc.connection_ids import LEGACY_ID
from reactor_runtime.webrtc.local_addresses import list_addresses
from reactor_runtime.webrtc.offer_overrides import OfferOverrides
from reactor_runtime.webrtc.signaling import Signaling
from reactor_runtime.webrtc.web_rtc_settings import IceServer

pytestmark = needs_network


async def opened(viewer: Viewer, listener: RecordingListener) -> Any:
    await until(lambda: viewer.connection_id in listener.open)
    return listener.open[viewer.connection_id]


async def test_an_offer_is_answered_at_once_and_leads_to_a_connection(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.receive("main_video")
    viewer.open_channels()
    sdp = await viewer.make_offer()
    started = time.perf_counter()
    await viewer.signaling.offer(viewer.connection_id, sdp, viewer.mapping)
    answer = await viewer.signaling.take_answer(viewer.connection_id, wait_s=1)
    assert time.perf_counter() - started < 1.0
    assert answer is not None
    assert answer.count("a=end-of-candidates") == 1
    assert await viewer.signaling.take_answer(viewer.connection_id) is None
    await viewer.accept(answer)
    connection = await opened(viewer, listener)
    assert (connection.client_id, connection.has_control) == (str(viewer.connection_id), True)
    assert connection.max_message_bytes == 262_144
    assert len(viewer.signaling) == 1


async def test_registering_gives_an_id_and_the_models_tracks(make_signaling: MakeSignaling) -> None:
    connection_id, track_map = make_signaling().register()
    assert 5000 <= connection_id <= 9999
    assert track_map["main_video"] == {"kind": "video", "direction": "out", "rate": None}
    assert track_map["mic"] == {"kind": "audio", "direction": "in", "rate": 16_000}


async def test_a_client_that_leaves_is_noticed_at_once(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channels()
    await viewer.connect()
    await opened(viewer, listener)
    await viewer.close()
    await until(lambda: not listener.open, 5)
    assert listener.reasons == ["the peer has left"]
    await until(lambda: len(viewer.signaling) == 0, 3)


async def test_a_closed_connection_is_told_to_the_client_after_what_was_queued(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channels()
    await viewer.connect()
    connection = await opened(viewer, listener)
    words = [bytes([number]) * 10_000 for number in range(20)]
    for word in words:
        connection.send("control", word)
    started = time.perf_counter()
    await connection.close()
    await connection.close()
    await until(lambda: viewer.pc.connectionState == "closed")
    assert time.perf_counter() - started < 1
    assert viewer.messages == [("control", word) for word in words]
    assert listener.events == [("opened", viewer.connection_id), ("closed", viewer.connection_id)]


async def test_a_new_offer_for_an_id_replaces_its_peer(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    signaling = make_signaling(max_connections=1)
    first = make_viewer(signaling)
    first.receive("main_video")
    first.open_channels()
    await first.connect()
    await opened(first, listener)
    second = make_viewer(signaling, first.connection_id)
    second.receive("main_video")
    second.open_channels()
    await second.connect()
    await until(lambda: len(listener.events) == 3)
    assert [name for name, _ in listener.events] == ["opened", "closed", "opened"]
    assert listener.reasons == ["replaced by a new offer"]
    assert (await opened(second, listener)).resume_track("main_video")
    await until(lambda: second.frames["main_video"])


async def test_a_stale_answer_is_not_handed_out_after_a_new_offer(
    make_signaling: MakeSignaling, make_viewer: MakeViewer
) -> None:
    signaling = make_signaling()
    first, second = make_viewer(signaling, 5000), make_viewer(signaling, 5000)
    answers = []
    for viewer in (first, second):
        viewer.open_channels()
        await signaling.offer(5000, await viewer.make_offer(), viewer.mapping)
        await until(lambda: len(signaling) == 1)
        answers.append(viewer)
    answer = await signaling.take_answer(5000, wait_s=1)
    assert answer is not None
    await second.accept(answer)
    assert await signaling.take_answer(5000) is None


async def test_connections_are_limited_and_a_re_offer_is_exempt(
    make_signaling: MakeSignaling, make_viewer: MakeViewer
) -> None:
    signaling = make_signaling(max_connections=1)
    viewer = make_viewer(signaling)
    viewer.open_channels()
    sdp = await viewer.make_offer()
    await signaling.offer(5000, sdp)
    with pytest.raises(ConnectionLimitError, match="all 1 connections"):
        await signaling.offer(5001, sdp)
    await signaling.offer(5000, sdp, replace=True)


async def test_an_offer_that_never_connects_is_reaped_and_its_place_is_free(
    make_signaling: MakeSignaling, listener: RecordingListener
) -> None:
    signaling = make_signaling(max_connections=1, connect_timeout_s=0.3)
    unroutable = "a=candidate:1 1 udp 2122260223 192.0.2.254 51234 typ host\r\n"
    await signaling.offer(5000, offer(application("0") + unroutable))
    assert await signaling.take_answer(5000, wait_s=1) is not None
    await until(lambda: len(signaling) == 0, 3)
    assert listener.events == [("failed", 5000)]
    assert listener.reasons == ["no network path to the peer within 0.3 s of its offer"]
    with pytest.raises(NegotiationError, match="no network path"):
        await signaling.take_answer(5000)
    await signaling.offer(5001, offer(application("0")))


async def test_ids_that_are_unknown_or_out_of_range_are_told_apart(
    make_signaling: MakeSignaling,
) -> None:
    signaling = make_signaling()
    with pytest.raises(UnknownConnectionError):
        await signaling.take_answer(5000)
    assert await signaling.take_answer(signaling.register()[0]) is None
    for call in (signaling.take_answer(999), signaling.offer(10_000, offer(application("0")))):
        with pytest.raises(ConnectionIdError):
            await call
    with pytest.raises(ConnectionIdError):
        signaling.add_candidates(0, [])


async def test_a_bad_offer_changes_nothing(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channels()
    await viewer.connect()
    connection = await opened(viewer, listener)
    with pytest.raises(OfferError):
        await viewer.signaling.offer(viewer.connection_id, "junk", replace=True)
    mapping = [{"mid": "0", "name": "x", "kind": "video", "direction": "recvonly"}]
    with pytest.raises(OfferError, match="no such output"):
        await viewer.signaling.offer(viewer.connection_id, offer(video("0")), mapping)
    assert await connection.probe(2.0)
    assert len(viewer.signaling) == 1


async def test_early_candidates_are_replayed_and_odd_ones_are_harmless(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    signaling = make_signaling()
    viewer = make_viewer(signaling)
    viewer.open_channels()
    sdp = await viewer.make_offer()
    lines = [line[2:] for line in sdp.split("\r\n") if line.startswith("a=candidate")]
    assert lines
    odd = [
        "",
        "candidate:1 1 udp 1 abc.local 9 typ host",
        "junk",
        "candidate:1 1 tcp 1 ::1 9 typ host",
    ]
    batch = [{"candidate": line, "sdp_mid": "0", "sdp_mline_index": 0} for line in [*odd, *lines]]
    signaling.add_candidates(viewer.connection_id, batch)
    bare = "\r\n".join(line for line in sdp.split("\r\n") if not line.startswith("a=candidate"))
    await signaling.offer(viewer.connection_id, bare, viewer.mapping)
    signaling.add_candidates(viewer.connection_id, batch, is_final=True)
    signaling.add_candidates(viewer.connection_id, [], is_final=True)
    answer = await signaling.take_answer(viewer.connection_id, wait_s=1)
    assert answer is not None
    await viewer.accept(answer)
    await opened(viewer, listener)


async def test_local_names_cost_no_time(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    """A browser hides its addresses behind names; it is found as peer-reflexive."""
    signaling = make_signaling()
    viewer = make_viewer(signaling)
    viewer.open_channels()
    sdp = await viewer.make_offer()
    for address in list_addresses():
        sdp = sdp.replace(f" {address} ", " 0b8f9c1e-1d2c-4f6e-9d3a-5f6e7d8c9b0a.local ")
    started = time.perf_counter()
    await signaling.offer(viewer.connection_id, sdp, viewer.mapping)
    answer = await signaling.take_answer(viewer.connection_id, wait_s=1)
    assert answer is not None
    await viewer.accept(answer)
    await opened(viewer, listener)
    assert time.perf_counter() - started < 0.9


def silent_sockets() -> tuple[socket.socket, socket.socket]:
    """Return a UDP and a TCP socket of one port, which take everything and say nothing."""
    for _ in range(50):
        mute = socket.create_server(("127.0.0.1", 0))
        silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            silent.bind(mute.getsockname())
        except OSError:  # somebody else has the UDP port of that number
            mute.close()
            silent.close()
        else:
            return silent, mute
    raise AssertionError("no port is free for UDP and TCP")


@pytest.mark.parametrize("form", ["stun:{}", "turn:{}", "turn:{}?transport=tcp", "turns:{}"])
async def test_a_server_that_never_answers_delays_no_answer_by_a_second(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    form: str,
) -> None:
    silent, mute = silent_sockets()
    with silent, mute:
        uri = form.format(f"127.0.0.1:{silent.getsockname()[1]}")
        server = IceServer(uris=(uri,), username="u", credential="p")
        signaling = make_signaling(ice_servers=(server,))
        viewer = make_viewer(signaling)
        viewer.open_channels()
        sdp = await viewer.make_offer()
        before = len(os.listdir("/proc/self/fd"))
        started = time.perf_counter()
        await signaling.offer(viewer.connection_id, sdp, viewer.mapping)
        assert time.perf_counter() - started < 0.4 * strain()
        lags = []
        taking = asyncio.create_task(signaling.take_answer(viewer.connection_id, wait_s=1))
        while not taking.done():
            slept = time.perf_counter()
            await asyncio.sleep(0.01)
            lags.append(time.perf_counter() - slept)
        assert time.perf_counter() - started < 1.2 * strain()  # the servers had 0.8 s
        assert max(lags) < 0.3 * strain()
        answer = await taking
        assert answer is not None
        await viewer.accept(answer)
        await (await opened(viewer, listener)).close()
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before)


async def test_a_stun_server_that_answers_is_named_in_the_answer(
    make_signaling: MakeSignaling,
) -> None:
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(
        StunServer, local_addr=(next(a for a in list_addresses() if ":" not in a), 0)
    )
    host, port = transport.get_extra_info("sockname")
    signaling = make_signaling(ice_servers=(IceServer(uris=(f"stun:{host}:{port}",)),))
    await signaling.offer(5000, offer(application("0")))
    answer = await signaling.take_answer(5000, wait_s=1)
    assert answer is not None
    assert " 203.0.113.77 4444 typ srflx raddr " in answer
    transport.close()


class StunServer(asyncio.DatagramProtocol):
    """Says that everybody is 203.0.113.77:4444."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        mapped = bytes([0, 1]) + (4444 ^ 0x2112).to_bytes(2, "big")
        mapped += bytes(a ^ b for a, b in zip((203, 0, 113, 77), data[4:8], strict=True))
        attribute = b"\0\x20" + len(mapped).to_bytes(2, "big") + mapped
        head = b"\1\1" + len(attribute).to_bytes(2, "big") + data[4:20]
        self.transport.sendto(head + attribute, addr)


async def test_the_public_address_and_the_ports_reach_the_answer(
    make_signaling: MakeSignaling,
) -> None:
    signaling = make_signaling(public_address="203.0.113.9", port_range=(46_000, 46_020))
    await signaling.offer(5000, offer(application("0")))
    answer = await signaling.take_answer(5000, wait_s=1)
    assert answer is not None
    candidates = [line.split() for line in answer.split("\r\n") if line.startswith("a=candidate")]
    assert all(46_000 <= int(fields[5]) <= 46_020 for fields in candidates)
    announced = {fields[5] for fields in candidates if fields[4] == "203.0.113.9"}
    own = {
        fields[5] for fields in candidates if fields[4] in list_addresses() and ":" not in fields[4]
    }
    assert announced == own


async def test_a_single_port_that_is_taken_is_told_at_once(make_signaling: MakeSignaling) -> None:
    signaling = make_signaling()
    sockets: list[socket.socket] = []
    for address in list_addresses():
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        taken = socket.socket(family, socket.SOCK_DGRAM)
        taken.bind((address, sockets[0].getsockname()[1] if sockets else 0))
        sockets.append(taken)
    port = sockets[0].getsockname()[1]
    overrides = OfferOverrides(port_range=(port, port))
    with pytest.raises(PortTakenError, match=str(port)):
        await signaling.offer(5000, offer(application("0")), overrides=overrides)
    for taken in sockets:
        taken.close()
    await until(lambda: len(signaling) == 0)
    await signaling.offer(5000, offer(application("0")), overrides=overrides)
    await signaling.offer(5000, offer(application("0")), overrides=overrides, replace=True)


async def test_own_credentials_are_used(make_signaling: MakeSignaling) -> None:
    signaling = make_signaling()
    credentials = {"ufrag": "ours", "pwd": "0123456789012345678901"}
    overrides = OfferOverrides(ice_credentials=credentials)
    await signaling.offer(5000, offer(application("0")), overrides=overrides)
    answer = await signaling.take_answer(5000, wait_s=1)
    assert answer is not None
    assert "a=ice-ufrag:ours\r\na=ice-pwd:0123456789012345678901\r\n" in answer


async def test_a_client_with_one_channel_is_served_at_once_and_unasked(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling(control_grace_s=60.0), LEGACY_ID)
    viewer.receive("main_video")
    viewer.open_channel("data")
    await viewer.connect()
    assert not (await opened(viewer, listener)).has_control
    await until(lambda: viewer.frames["main_video"])


@pytest.mark.parametrize("version", ["2.9.0", "1.0.0"])
async def test_an_older_browser_sdk_is_known_by_its_version(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    version: str,
) -> None:
    viewer = make_viewer(make_signaling(control_grace_s=60.0))
    viewer.open_channel("data")
    await viewer.connect(client_info={"sdk_type": "js", "sdk_version": version})
    await opened(viewer, listener)


async def test_a_client_that_opens_no_control_channel_is_served_after_a_grace(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling(control_grace_s=0.2))
    viewer.open_channel("anything")
    await viewer.connect()
    assert not (await opened(viewer, listener)).has_control


async def test_a_client_without_channels_gets_pictures(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.receive("main_video")
    await viewer.connect()
    await opened(viewer, listener)
    await until(lambda: viewer.frames["main_video"])


async def test_a_living_peer_answers_a_probe_and_a_frozen_one_does_not(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.open_channels()
    await viewer.connect()
    connection = await opened(viewer, listener)
    assert await connection.probe(2.0)
    assert connection.silent_for_s < 1
    transport = viewer.pc.sctp.transport.transport
    for protocol in list(transport._connection._protocols):  # its cable is pulled
        protocol.transport.abort()
    silent_since = connection.silent_for_s
    assert not await connection.probe(0.3)
    assert connection.silent_for_s > silent_since


async def test_a_connection_closed_while_it_opens_stays_closed(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    source: PatternSource,
) -> None:
    """A session that wants no more viewers closes one in the moment it is told of it."""
    closing: list[asyncio.Task[None]] = []
    accept = listener.opened

    def refuse(connection: Any) -> None:
        accept(connection)
        closing.append(asyncio.get_running_loop().create_task(connection.close()))

    listener.opened = refuse  # type: ignore[method-assign]
    viewer = make_viewer(make_signaling())
    viewer.receive("main_video")
    sdp = await viewer.make_offer()
    await viewer.signaling.offer(viewer.connection_id, sdp, viewer.mapping)
    answer = await viewer.signaling.take_answer(viewer.connection_id, 1)
    assert answer is not None
    await viewer.pc.setRemoteDescription(RTCSessionDescription(answer, "answer"))
    await until(lambda: bool(listener.reasons))
    await asyncio.gather(*closing)
    assert source.holds == []
    assert len(viewer.signaling) == 0


async def test_closing_all_ends_every_connection_within_a_bound(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    signaling = make_signaling()
    viewers = [make_viewer(signaling) for _ in range(3)]
    for viewer in viewers:
        viewer.open_channels()
        await viewer.connect()
    await signaling.offer(7000, offer(application("0")))
    await until(lambda: len(listener.open) == 3)
    started = time.perf_counter()
    await signaling.close_all("session ended")
    assert time.perf_counter() - started < 2
    assert listener.reasons == ["session ended"] * 3
    assert len(signaling) == 0
    with pytest.raises(UnknownConnectionError):
        await signaling.take_answer(viewers[0].connection_id)
    for viewer in viewers:
        await until(lambda: viewer.pc.connectionState == "closed")  # noqa: B023 - awaited here


async def test_connections_are_counted(
    listener: RecordingListener, source: PatternSource, nothing_left_behind: None
) -> None:
    metrics = Metrics()
    signaling = Signaling(listener, source, [VIDEO], metrics=metrics)
    viewer = Viewer(signaling)
    viewer.receive("main_video")
    viewer.open_channels()
    await viewer.connect()
    (await opened(viewer, listener)).resume_track("main_video")
    source.show()

    def value(name: str, **labels: str) -> float | None:
        return metrics.registry.get_sample_value(f"reactor_{name}", labels)

    assert value("connections") == 1
    assert value("connections_opened_total") == 1
    assert value("connect_seconds_count") == 1
    await until(lambda: value("rtp_packets_sent_total", kind="video") == 1)
    await viewer.close()
    await until(lambda: value("connections_closed_total", reason="left") == 1)
    assert value("connections") == 0
    await signaling.close_all("done")
