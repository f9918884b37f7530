"""Players and publishers without an SDK: what their offers get, and a connection of only media."""

import asyncio

import pytest
from tests.unit.webrtc.offers import application, audio, offer, video
from tests.unit.webrtc.sources import Camera
from tests.unit.webrtc.viewer import (
    AUDIO,
    MIC,
    VIDEO,
    WEBCAM,
    MakeSignaling,
    MakeViewer,
    PatternSource,
    RecordingListener,
    Viewer,
    needs_network,
)
from tests.waiting import until

from reactor_runtime.errors import (
    ConnectionLimitError,
    FragmentError,
    IceRestartError,
    OfferError,
    UnknownTrackError,
)
from reactor_runtime.session.connection import Connection
from reactor_runtime.webrtc.media_resource import MediaResource
from reactor_runtime.webrtc.negotiation import Negotiation
from reactor_runtime.webrtc.one_way import negotiate_ingest, negotiate_playback
from reactor_runtime.webrtc.session_offer import SessionOffer, parse_offer
from reactor_runtime.webrtc.trickle_fragment import parse_fragment

TRACKS = (VIDEO, AUDIO, WEBCAM, MIC)
HOST = "a=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host"


def read(*sections: str) -> SessionOffer:
    return parse_offer(offer(*sections), max_bytes=65536, max_sections=8)


def directions(found: Negotiation) -> list[str]:
    return [plan.direction if plan.is_accepted else "rejected" for plan in found.sections]


@pytest.mark.parametrize("way", ["recvonly", "sendrecv"])
def test_a_player_gets_outputs_and_no_data_channel(way: str) -> None:
    sections = (application("2"), video("0", way=way), audio("1", way=way))
    found = negotiate_playback(read(*sections), TRACKS)
    assert directions(found) == ["rejected", "sendonly", "sendonly"]
    assert found.data_section is None


def test_a_player_of_more_than_there_is_gets_what_there_is() -> None:
    found = negotiate_playback(read(video("0"), audio("1")), (VIDEO, MIC))
    assert directions(found) == ["sendonly", "inactive"]


@pytest.mark.parametrize("section", [video("0", way="sendonly"), audio("0", way="inactive")])
def test_a_player_that_receives_nothing_is_told(section: str) -> None:
    with pytest.raises(OfferError, match="main_video, video, main_audio, audio"):
        negotiate_playback(read(section), TRACKS)


@pytest.mark.parametrize("way", ["sendonly", "sendrecv"])
def test_a_publisher_feeds_the_input_it_names_and_no_other(way: str) -> None:
    sections = read(audio("0", way=way), video("1", way=way))
    assert directions(negotiate_ingest(sections, TRACKS, "webcam")) == ["inactive", "recvonly"]
    assert directions(negotiate_ingest(sections, TRACKS, "mic")) == ["recvonly", "inactive"]


def test_a_publisher_of_what_does_not_fit_is_told() -> None:
    with pytest.raises(UnknownTrackError, match=r"no input 'main_video' \(it has webcam, mic\)"):
        negotiate_ingest(read(video("0", way="sendonly")), TRACKS, "main_video")
    with pytest.raises(OfferError, match="sends audio for 'mic'"):
        negotiate_ingest(read(video("0", way="sendonly")), TRACKS, "mic")


def test_a_fragment_holds_candidates() -> None:
    fragment = parse_fragment(
        "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\nm=video 9 RTP/AVP 0\r\n"
        f"a=mid:0\r\n{HOST}\r\na=candidate:2 1 tcp 1 192.0.2.7 9 typ host tcptype active\r\n"
        "a=end-of-candidates\r\n"
    )
    assert fragment.ufrags == {"abcd"}
    assert [(each.host, each.port) for each in fragment.candidates] == [("192.0.2.7", 5000)]


@pytest.mark.parametrize("text", ["", "m=video 9 RTP/AVP 0", '{"candidate": ""}', "a=\n\0"])
def test_what_is_no_fragment_is_refused(text: str) -> None:
    with pytest.raises(FragmentError):
        parse_fragment(text)


async def open_media(
    viewer: Viewer, listener: RecordingListener, track: str | None = None
) -> tuple[MediaResource, Connection]:
    plan = viewer.signaling.plan_media(await viewer.make_offer(), track)
    resource = await viewer.signaling.open_media(plan)
    await viewer.accept(await resource.answer(5.0))
    await until(lambda: listener.open)
    return resource, next(iter(listener.open.values()))


@needs_network
async def test_a_player_is_open_without_channels_and_alive_by_its_reports(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    viewer.receive("main_video")
    resource, connection = await open_media(viewer, listener)
    assert not connection.takes_messages
    await until(lambda: len(viewer.frames["main_video"]) > 10)
    # Datagrams keep coming (STUN), but only what is media counts.
    await until(lambda: connection.silent_for_s > 0.05)
    await until(lambda: connection.silent_for_s < 0.05)
    await viewer.pc.getTransceivers()[0].receiver.stop()
    await until(lambda: connection.silent_for_s > 3)
    assert not resource.is_over
    await asyncio.wait_for(resource.close(), 5)
    await resource.close()
    assert resource.is_over
    assert listener.events[-1][0] == "closed"


@needs_network
async def test_a_publisher_feeds_its_input(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    listener.is_wanting = True
    viewer = make_viewer(make_signaling())
    viewer.publish("webcam", Camera())
    await open_media(viewer, listener, "webcam")
    await until(lambda: len(listener.media["webcam"]) > 5)


@needs_network
async def test_candidates_trickle_but_ice_does_not_restart(make_signaling: MakeSignaling) -> None:
    signaling = make_signaling(max_connections=1)
    plan = signaling.plan_media(offer(video("0")))
    resource = await signaling.open_media(plan)
    await resource.trickle(f"a=ice-ufrag:abcd\r\n{HOST}")
    with pytest.raises(IceRestartError):
        await resource.trickle(f"a=ice-ufrag:wxyz\r\n{HOST}")
    with pytest.raises(ConnectionLimitError):
        await signaling.open_media(plan)
    assert not resource.is_over
    await resource.close()


@needs_network
async def test_an_offer_that_is_abandoned_gives_its_place_back(
    make_signaling: MakeSignaling,
) -> None:
    signaling = make_signaling(max_connections=1, connect_timeout_s=0.2)
    plan = signaling.plan_media(offer(video("0")))
    for _ in range(3):
        resource = await signaling.open_media(plan)
        await until(lambda: len(signaling) == 0)
        assert resource.is_over
