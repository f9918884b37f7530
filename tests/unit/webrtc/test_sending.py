"""Encoded frames to viewers, with real aiortc clients."""

import asyncio
import itertools
import struct
from typing import Any

import pytest
from aiortc.codecs import CODECS
from tests.unit.webrtc.viewer import (
    VIDEO,
    MakeSignaling,
    MakeViewer,
    PatternSource,
    RecordingListener,
    Viewer,
    grey_of,
    needs_network,
)
from tests.waiting import until

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.web_rtc_settings import PlayoutDelay

pytestmark = needs_network


async def watch(viewer: Viewer, listener: RecordingListener, *tracks: str) -> Any:
    """Connect *viewer* for *tracks* and return its connection."""
    for track in tracks:
        viewer.receive(track, "audio" if "audio" in track else "video")
    viewer.open_channels()
    await viewer.connect()
    await until(lambda: viewer.connection_id in listener.open)
    return listener.open[viewer.connection_id]


async def test_nothing_is_sent_before_a_track_is_resumed_nor_while_it_is_paused(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await watch(viewer, listener, "main_video")
    assert playing.holds == []
    assert connection.resume_track("main_video")
    assert connection.resume_track("main_video")
    assert len(playing.holds) == 1
    await until(lambda: len(viewer.frames["main_video"]) > 5)
    assert connection.pause_track("main_video")
    assert playing.holds == []
    sent = connection.stats()["outputs"]["main_video"]["frames"]
    number = playing.number
    await until(lambda: playing.number > number + 5)
    assert connection.stats()["outputs"]["main_video"]["frames"] == sent
    assert connection.resume_track("main_video")
    received = len(viewer.frames["main_video"])
    await until(lambda: len(viewer.frames["main_video"]) > received + 5)
    assert not connection.resume_track("other")
    assert not connection.pause_track("other")


async def test_viewers_see_the_same_pictures_from_one_encoder(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    signaling = make_signaling()
    viewers = [make_viewer(signaling) for _ in range(3)]
    for viewer in viewers:
        connection = await watch(viewer, listener, "main_video")
        connection.resume_track("main_video")
    await until(lambda: all(len(viewer.frames["main_video"]) > 20 for viewer in viewers))
    numbers = [frame.number for frame in playing.sent]
    assert numbers == sorted(set(numbers))
    for viewer in viewers:
        greys = [grey_of(frame) for frame in viewer.frames["main_video"][-10:]]
        steps = [(b - a) % 256 for a, b in itertools.pairwise(greys)]
        assert all(abs(step - 4) <= 2 for step in steps)


async def test_a_viewer_without_vp8_gets_h264(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signaling = make_signaling()
    usual = make_viewer(signaling)
    (await watch(usual, listener, "main_video")).resume_track("main_video")
    monkeypatch.setitem(CODECS, "video", [c for c in CODECS["video"] if c.name != "VP8"])
    other = make_viewer(signaling)
    (await watch(other, listener, "main_video")).resume_track("main_video")
    assert "VP8" not in other.answer
    await until(lambda: len(other.frames["main_video"]) > 5)
    await until(lambda: len(usual.frames["main_video"]) > 5)
    assert {frame.codec for frame in playing.sent} == {Codec.VP8, Codec.H264}
    greys = [grey_of(frame) for frame in other.frames["main_video"][-4:]]
    assert all(abs((b - a) % 256 - 4) <= 3 for a, b in itertools.pairwise(greys))


async def test_sound_is_sent_in_opus(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await watch(viewer, listener, "main_video", "main_audio")
    connection.resume_track("main_audio")
    await until(lambda: len(viewer.frames["main_audio"]) > 10)
    frame = viewer.frames["main_audio"][-1]
    assert (frame.sample_rate, frame.samples) == (48_000, 960)
    assert abs(frame.to_ndarray()).max() > 5_000
    assert not viewer.frames["main_video"]


async def test_lost_packets_are_sent_again(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    source: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await watch(viewer, listener, "main_video")
    connection.resume_track("main_video")
    lose_every(viewer, 5)
    for _ in range(60):
        source.show(noise=True)
        await asyncio.sleep(0.01)
    await until(lambda: connection.stats()["outputs"]["main_video"]["repeats"] > 10)
    await until(lambda: len(viewer.frames["main_video"]) > 50)


def lose_every(viewer: Viewer, nth: int) -> None:
    """Drop every *nth* packet of pictures that reaches *viewer*."""
    dtls = viewer.pc.getTransceivers()[0].receiver.transport
    handle, count = dtls._handle_rtp_data, 0

    async def handle_some(packet: bytes, arrival_time_ms: int) -> None:
        nonlocal count
        count += 1
        is_repeat = packet[1] & 0x7F == 98
        if is_repeat or count % nth:
            await handle(packet, arrival_time_ms)

    dtls._handle_rtp_data = handle_some


async def test_a_viewer_that_cannot_go_on_gets_a_key_frame(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await watch(viewer, listener, "main_video")
    connection.resume_track("main_video")
    await until(lambda: viewer.frames["main_video"])
    [hold] = playing.holds
    receiver = viewer.pc.getTransceivers()[0].receiver
    sent = viewer.answer.split("a=ssrc-group:FID ")[1].split()[0]
    await receiver._send_rtcp_pli(int(sent))
    await until(lambda: hold.key_requests == [False])
    assert connection.stats()["outputs"]["main_video"]["key_requests"] == 1


async def test_reports_give_the_round_trip_and_what_the_viewer_lost(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await watch(viewer, listener, "main_video")
    connection.resume_track("main_video")

    def outputs() -> Any:
        return connection.stats()["outputs"]["main_video"]

    await until(lambda: outputs()["round_trip_s"] is not None)
    assert 0 <= outputs()["round_trip_s"] < 0.5
    assert outputs()["lost"] == 0
    assert outputs()["flow"] == "flowing"


class Watched:
    """Packets as a viewer receives them, in order."""

    def __init__(self, viewer: Viewer) -> None:
        self.packets: list[bytes] = []
        dtls = viewer.pc.getTransceivers()[0].receiver.transport
        handle = dtls._handle_rtp_data

        async def note(packet: bytes, arrival_time_ms: int) -> None:
            self.packets.append(packet)
            await handle(packet, arrival_time_ms)

        dtls._handle_rtp_data = note

    @property
    def numbers(self) -> list[int]:
        return [struct.unpack_from("!H", packet, 2)[0] for packet in self.packets]


async def test_sequence_numbers_have_no_gap_across_a_pause(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
) -> None:
    viewer = make_viewer(make_signaling())
    connection = await watch(viewer, listener, "main_video")
    seen = Watched(viewer)
    connection.resume_track("main_video")
    await until(lambda: len(seen.packets) > 10)
    connection.pause_track("main_video")
    number = playing.number
    await until(lambda: playing.number > number + 3)
    connection.resume_track("main_video")
    count = len(seen.packets)
    await until(lambda: len(seen.packets) > count + 10)
    numbers = seen.numbers
    assert [(b - a) & 0xFFFF for a, b in itertools.pairwise(numbers)] == [1] * (len(numbers) - 1)


@pytest.mark.parametrize("wish", list(PlayoutDelay))
async def test_viewers_nearby_are_asked_to_show_pictures_at_once(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    playing: PatternSource,
    wish: PlayoutDelay,
) -> None:
    viewer = make_viewer(make_signaling(playout_delay=wish))
    viewer.receive("main_video")
    viewer.open_channels()
    uri = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
    sdp = (await viewer.make_offer()).replace(
        "a=rtcp-mux\r\n", f"a=rtcp-mux\r\na=extmap:6 {uri}\r\n"
    )
    await viewer.signaling.offer(viewer.connection_id, sdp, viewer.mapping)
    answer = await viewer.signaling.take_answer(viewer.connection_id, 1)
    assert answer is not None
    assert f"a=extmap:6 {uri}" in answer
    seen = Watched(viewer)
    await viewer.accept(answer)
    await until(lambda: bool(listener.open))
    listener.open[viewer.connection_id].resume_track("main_video")
    await until(lambda: bool(seen.packets))
    # The tests' own network is private, so "auto" asks as "always" does.
    asks = bytes([6 << 4 | 2, 0, 0, 0]) in seen.packets[0][:40]
    assert asks is (wish is not PlayoutDelay.NEVER)


async def test_a_frame_is_packetised_once_for_all_viewers(
    make_signaling: MakeSignaling,
    make_viewer: MakeViewer,
    listener: RecordingListener,
    source: PatternSource,
) -> None:
    """The picture ids of VP8, which count packetised pictures, run on by one per picture."""
    signaling = make_signaling(VIDEO)
    viewers = [make_viewer(signaling) for _ in range(2)]
    watched = []
    for viewer in viewers:
        connection = await watch(viewer, listener, "main_video")
        watched.append(Watched(viewer))
        connection.resume_track("main_video")
    for _ in range(10):
        source.show()
        await asyncio.sleep(0.01)
    await until(lambda: all(len(seen.packets) >= 10 for seen in watched))

    def picture_ids(seen: Watched) -> list[int]:
        found = []
        for packet in seen.packets:
            start = 16 + 4 * struct.unpack_from("!H", packet, 14)[0]
            found.append(struct.unpack_from("!H", packet, start + 2)[0] & 0x7FFF)
        return list(dict.fromkeys(found))

    first, second = map(picture_ids, watched)
    assert first == second
    assert [(b - a) % 0x8000 for a, b in itertools.pairwise(first)] == [1] * 9
