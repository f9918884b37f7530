"""A path that leads through a TURN server and nowhere else."""

import asyncio
import socket
from collections.abc import Callable

import pytest
from tests.unit.webrtc.turn_server import TurnServer
from tests.unit.webrtc.viewer import VIDEO, PatternSource, RecordingListener, Viewer
from tests.waiting import until

from reactor_runtime.clock import SystemClock
from reactor_runtime.webrtc.broadcast import Broadcasts
from reactor_runtime.webrtc.candidates import parse_candidate
from reactor_runtime.webrtc.channel_pair import WantedChannels
from reactor_runtime.webrtc.gathering import GatherPlan
from reactor_runtime.webrtc.ice_servers import queries_of
from reactor_runtime.webrtc.identity import Identity
from reactor_runtime.webrtc.local_addresses import list_addresses
from reactor_runtime.webrtc.negotiation import negotiate
from reactor_runtime.webrtc.peer import Peer, PeerNeeds
from reactor_runtime.webrtc.session_offer import parse_offer
from reactor_runtime.webrtc.signaling import Signaling
from reactor_runtime.webrtc.web_rtc_settings import IceServer, WebRtcSettings

HOSTS = [address for address in list_addresses() if ":" not in address]
pytestmark = pytest.mark.skipif(
    not HOSTS or not socket.has_ipv6, reason="needs a network address and IPv6"
)


async def test_pictures_pass_through_a_relay(
    make_signaling: Callable[..., Signaling],
    make_viewer: Callable[..., Viewer],
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    """Our own socket is IPv6, the client has only IPv4: the relay is their only common ground."""
    loop, server = asyncio.get_running_loop(), TurnServer("me", "secret", HOSTS[0])
    transport, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=(HOSTS[0], 0))
    uri = "turn:{}:{}".format(*transport.get_extra_info("sockname"))
    queries = queries_of([IceServer(uris=(uri,), username="me", credential="secret")])
    viewer = make_viewer(make_signaling(), 5000)
    viewer.receive("main_video")
    viewer.open_channels()
    sdp = await viewer.make_offer()
    offer = parse_offer(sdp, max_bytes=10**6, max_sections=8)
    clock = SystemClock()
    needs = PeerNeeds(
        listener=listener,
        broadcasts=Broadcasts(playing),
        identity=Identity(clock),
        settings=WebRtcSettings(),
        clock=clock,
    )
    peer = Peer(
        5000,
        negotiate(offer, viewer.mapping, [VIDEO]),
        GatherPlan(addresses=["::1"], queries=queries),
        needs,
        wanted=WantedChannels.BOTH,
    )
    await peer.link.bind()
    found = [parse_candidate(line) for line in offer.candidates]
    await peer.link.add_candidates([c for c in found if c is not None and ":" not in c.host])
    answers: list[str] = []
    running = asyncio.create_task(peer.run(answers.append))
    await until(lambda: bool(answers))
    assert " typ relay " in answers[0]
    kept = [line for line in answers[0].split("\r\n") if " typ host" not in line]
    await viewer.accept("\r\n".join(kept))
    await until(lambda: bool(listener.open))
    peer.resume_track("main_video")
    await until(lambda: len(viewer.frames["main_video"]) > 5)
    assert server.relayed > 20
    await peer.close()
    await running
    await until(lambda: server.relays == {})
    server.close()
