"""Inbound pictures and sound, with real aiortc clients."""

import asyncio
import itertools
import threading
import time
from typing import Any

import numpy as np
from aiortc.mediastreams import MediaStreamTrack
from tests.unit.webrtc.sources import Camera, Microphone
from tests.unit.webrtc.viewer import (
    MakeSignaling,
    MakeViewer,
    RecordingListener,
    Viewer,
    needs_network,
)
from tests.waiting import until

pytestmark = needs_network


def decoders() -> int:
    return sum(thread.name == "inbound-decoder" for thread in threading.enumerate())


async def publish(viewer: Viewer, listener: RecordingListener, **tracks: MediaStreamTrack) -> Any:
    for name, track in tracks.items():
        viewer.publish(name, track)
    viewer.open_channels()
    await viewer.connect()
    await until(lambda: viewer.connection_id in listener.open)
    return listener.open[viewer.connection_id]


def inbound(connection: Any) -> Any:
    return connection.stats()["inputs"]["webcam"]


async def test_pictures_arrive_as_rgb_with_their_capture_time(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    listener.is_wanting = True
    connection = await publish(make_viewer(make_signaling()), listener, webcam=Camera())
    frames = listener.media["webcam"]
    await until(lambda: len(frames) > 20)
    for frame in frames:
        assert frame.data.shape == (180, 320, 3)
        assert frame.data.dtype == np.uint8
    reds = [int(frame.data[90, 160, 0]) for frame in frames[-8:]]
    steps = [(b - a) % 240 for a, b in itertools.pairwise(reds)]
    assert all(min(step % 20, -step % 20) <= 6 and step > 10 for step in steps)
    assert abs(int(frames[-1].data[90, 160, 1]) - 100) < 10
    now = time.time() * 1e6
    captured = frames[-1].capture_time_us
    assert captured is not None
    assert abs(captured - now) < 2e6
    assert inbound(connection)["frames"] == len(frames)


async def test_sound_arrives_at_the_models_rate(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    listener.is_wanting = True
    await publish(make_viewer(make_signaling()), listener, mic=Microphone())
    await until(lambda: len(listener.media["mic"]) > 60)
    whole = np.concatenate([frame.data for frame in listener.media["mic"]], axis=1)
    assert whole.shape[0] == 1
    assert whole.dtype == np.int16
    tail = whole[0, -16_000:]
    spectrum = np.abs(np.fft.rfft(tail * np.hanning(len(tail))))
    assert abs(np.argmax(spectrum) * 16_000 / len(tail) - 440) < 4
    assert abs(tail).max() > 5_000


async def test_a_track_nobody_wants_is_not_decoded_and_starts_when_wanted(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    before = decoders()
    viewer = make_viewer(make_signaling())
    connection = await publish(viewer, listener, webcam=Camera(), mic=Microphone())
    await until(lambda: inbound(connection)["unwanted"] > 20)
    assert decoders() == before
    assert listener.media == {}
    listener.is_wanting = True
    asked = time.perf_counter()
    await until(lambda: listener.media["webcam"] and listener.media["mic"])
    assert time.perf_counter() - asked < 1.5  # a key frame is asked for, not waited for
    assert decoders() == before + 2
    listener.is_wanting = False
    await asyncio.sleep(0)
    seen = len(listener.media["webcam"])
    unwanted = inbound(connection)["unwanted"]
    await until(lambda: inbound(connection)["unwanted"] > unwanted + 10)
    assert len(listener.media["webcam"]) <= seen + 1
    await connection.close()
    await until(lambda: decoders() == before)


async def test_an_idle_decoder_is_let_go(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    before = decoders()
    listener.is_wanting = True
    await publish(make_viewer(make_signaling()), listener, webcam=Camera())
    await until(lambda: len(listener.media["webcam"]) > 2)
    listener.is_wanting = False
    await until(lambda: decoders() == before)


async def test_losses_are_asked_for_again_and_hidden(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    listener.is_wanting = True
    viewer = make_viewer(make_signaling())
    connection = await publish(viewer, listener, webcam=Camera())
    dtls = viewer.pc.getTransceivers()[0].sender.transport
    send, count = dtls._send_rtp, 0

    async def send_some(packet: bytes) -> None:
        nonlocal count
        count += 1
        if packet[1] & 0x7F != 97 or count % 6:  # VP8 itself; repeats pass
            await send(packet)

    await until(lambda: len(listener.media["webcam"]) > 3)
    dtls._send_rtp = send_some
    seen = len(listener.media["webcam"])
    await until(lambda: len(listener.media["webcam"]) > seen + 45)
    assert count > 45
    assert inbound(connection)["lost"] < 3


async def test_two_connections_are_told_apart(
    make_signaling: MakeSignaling, make_viewer: MakeViewer, listener: RecordingListener
) -> None:
    signaling = make_signaling()
    wanted: list[int] = []
    delivered: list[int] = []
    listener.wants_media = lambda connection, track: connection.connection_id in wanted  # type: ignore[method-assign]
    listener.media_received = lambda connection, track, frame: delivered.append(  # type: ignore[method-assign]
        connection.connection_id
    )
    first, second = make_viewer(signaling), make_viewer(signaling)
    for viewer in (first, second):
        await publish(viewer, listener, webcam=Camera())
    wanted.append(second.connection_id)
    await until(lambda: len(delivered) > 5)
    assert set(delivered) == {second.connection_id}
