"""What the tests of connections are made of: a listener, encoded frames, and aiortc clients."""

import asyncio
import fractions
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import av
import numpy as np
import pytest
from aiortc import (
    RTCConfiguration,
    RTCPeerConnection,
    RTCRtpReceiver,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtcrtpreceiver import NackGenerator
from aiortc.rtp import RtpPacket
from tests.waiting import until

from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.session.connection import Connection
from reactor_runtime.webrtc.local_addresses import list_addresses
from reactor_runtime.webrtc.signaling import Signaling
from reactor_runtime.wire.channel import Channel

VIDEO = Track(name="main_video", kind=TrackKind.VIDEO, direction=TrackDirection.OUT)
AUDIO = Track(
    name="main_audio", kind=TrackKind.AUDIO, direction=TrackDirection.OUT, sample_rate=48_000
)
WEBCAM = Track(name="webcam", kind=TrackKind.VIDEO, direction=TrackDirection.IN)
MIC = Track(name="mic", kind=TrackKind.AUDIO, direction=TrackDirection.IN, sample_rate=16_000)


def rung_order(rendition: Rendition) -> int:
    """Better ones come first, as in the live stream."""
    return list(Rung).index(rendition.rung)


class RecordingListener:
    """Keeps what connections report."""

    def __init__(self) -> None:
        self.open: dict[int, Connection] = {}
        self.events: list[tuple[str, int]] = []
        self.reasons: list[str] = []
        self.frames: list[tuple[Channel, bytes | str]] = []
        self.media: dict[str, list[InputFrame]] = defaultdict(list)
        self.is_wanting = False
        self.on_frame: Callable[[Connection, Channel, bytes | str], None] | None = None

    def opened(self, connection: Connection) -> None:
        self.open[connection.connection_id] = connection
        self.events.append(("opened", connection.connection_id))

    def received(self, connection: Connection, channel: Channel, frame: bytes | str) -> None:
        self.frames.append((channel, frame))
        if self.on_frame is not None:
            self.on_frame(connection, channel, frame)

    def media_received(self, connection: Connection, track: str, frame: InputFrame) -> None:
        self.media[track].append(frame)

    def wants_media(self, connection: Connection, track: str) -> bool:
        return self.is_wanting

    def failed(self, connection: Connection, reason: str) -> None:
        self.events.append(("failed", connection.connection_id))
        self.reasons.append(reason)

    def closed(self, connection: Connection, reason: str) -> None:
        del self.open[connection.connection_id]
        self.events.append(("closed", connection.connection_id))
        self.reasons.append(reason)


class Hold:
    """One subscription of a ``PatternSource``."""

    def __init__(self, source: "PatternSource", key: Rendition, sink: Any) -> None:
        self.source, self.key, self.sink = source, key, sink
        self.is_urgent = True
        self.key_requests: list[bool] = []

    def request_key(self, urgent: bool = False) -> None:
        self.key_requests.append(urgent)
        self.source.wants_key = True

    def close(self) -> None:
        if self in self.source.holds:
            self.source.holds.remove(self)


class PatternSource:
    """Stands for the live stream: encodes a grey level that grows by 4 with every picture."""

    def __init__(self, width: int = 320, height: int = 240) -> None:
        self.size = (width, height)
        self.holds: list[Hold] = []
        self.wants_key = False
        self.number = 0
        self.sent: list[EncodedFrame] = []
        self._encoders: dict[Rendition, Any] = {}

    def subscribe(self, rendition: Rendition, sink: Any, *, urgent: bool = True) -> Hold:
        hold = Hold(self, rendition, sink)
        hold.is_urgent = urgent
        self.holds.append(hold)
        self.wants_key = True
        return hold

    def show(self, *, noise: bool = False) -> None:
        """Encode one picture (or 20 ms of sound) per track and codec, for whoever subscribes."""
        is_key, self.wants_key = self.wants_key, False
        for key in sorted({hold.key for hold in self.holds}, key=rung_order):
            for frame in self._encode(key, noise=noise, is_key=is_key):
                self.sent.append(frame)
                for hold in list(self.holds):
                    if hold.key == key:
                        hold.sink(frame)
        self.number += 1

    async def play(self, fps: float = 30.0) -> None:
        """Show pictures until cancelled."""
        while True:
            self.show()
            await asyncio.sleep(1 / fps)

    def _encode(self, of: Rendition, *, noise: bool, is_key: bool) -> list[EncodedFrame]:
        track, codec, rung = of
        encoder = self._encoders.setdefault(of, None) or self._open(codec)
        self._encoders[of] = encoder
        if codec is Codec.OPUS:
            wave = np.sin(np.arange(960) * 2 * np.pi * 440 / 48_000 + self.number) * 12_000
            frame = av.AudioFrame.from_ndarray(
                wave.astype(np.int16)[None], format="s16", layout="mono"
            )
            frame.sample_rate, frame.pts = 48_000, self.number * 960
        else:
            frame = self._picture(noise)
            frame.pts = self.number * 3000
            frame.time_base = fractions.Fraction(1, 90_000)
            kinds = av.video.frame.PictureType
            frame.pict_type = kinds.I if is_key else kinds.NONE
        loop = asyncio.get_running_loop()
        return [
            EncodedFrame(
                track=track,
                codec=codec,
                rung=rung,
                data=bytes(packet),
                timestamp=int(self.number * (960 if codec is Codec.OPUS else 3000)),
                presented_at=loop.time(),
                is_key=bool(packet.is_keyframe),
                number=self.number,
            )
            for packet in encoder.encode(frame)
        ]

    def _picture(self, noise: bool) -> Any:
        width, height = self.size
        rgb = np.full((height, width, 3), self.number * 4 % 256, np.uint8)
        if noise:
            rgb = np.random.default_rng(self.number).integers(0, 255, rgb.shape, dtype=np.uint8)
        return av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv420p")

    def _open(self, codec: Codec) -> Any:
        if codec is Codec.OPUS:
            encoder: Any = av.CodecContext.create("libopus", "w")
            encoder.format, encoder.layout, encoder.sample_rate = "s16", "mono", 48_000
            encoder.options = {"application": "audio"}
            return encoder
        encoder = av.CodecContext.create("libvpx" if codec is Codec.VP8 else "libx264", "w")
        encoder.width, encoder.height = self.size
        encoder.pix_fmt, encoder.bit_rate, encoder.gop_size = "yuv420p", 1_000_000, 3000
        encoder.time_base = fractions.Fraction(1, 90_000)
        encoder.framerate = fractions.Fraction(30, 1)
        if codec is Codec.VP8:
            encoder.options = {"deadline": "realtime", "cpu-used": "-8", "lag-in-frames": "0"}
        else:
            encoder.options = {"preset": "ultrafast", "tune": "zerolatency", "forced-idr": "1"}
            encoder.profile = "Baseline"
        return encoder


_ASK_AGAIN_S = 0.1


class _AsksAgain(NackGenerator):  # type: ignore[misc] # aiortc is untyped
    """Asks for what is missing until it comes, as browsers do.

    aiortc's own asks once: where that question or its answer is lost, too, as on a machine that is
    too busy to read, the picture stands still until hundreds of packets more have come.
    """

    def __init__(self) -> None:
        super().__init__()
        self._asked_at = 0.0

    def add(self, packet: RtpPacket) -> bool:
        """Return whether to ask for all that is missing now."""
        has_new, now = super().add(packet), time.monotonic()
        if has_new or (self.missing and now - self._asked_at >= _ASK_AGAIN_S):
            self._asked_at = now
            return True
        return False


class Viewer:
    """An aiortc client that knows nothing but the wire."""

    def __init__(self, signaling: Signaling, connection_id: int | None = None) -> None:
        self.signaling = signaling
        self.connection_id = connection_id or signaling.register()[0]
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.channels: dict[str, Any] = {}
        self.messages: list[tuple[str, Any]] = []
        self.frames: dict[str, list[Any]] = defaultdict(list)
        self.mapping: list[dict[str, str]] = []
        self.answer = ""
        self._names: dict[str, str] = {}
        self._transceivers: list[tuple[Any, str, str]] = []
        self._pumps: list[asyncio.Task[None]] = []
        self.pc.on("track", self._take)

    def receive(self, name: str, kind: str = "video", *, codec: str | None = None) -> Any:
        """Ask for an output track, in *codec* (``H264``) alone if one is named."""
        transceiver = self._add(kind, name, "recvonly")
        if codec is not None:
            known = RTCRtpReceiver.getCapabilities(kind).codecs
            wanted = (f"{kind}/{codec}", f"{kind}/rtx")
            transceiver.setCodecPreferences([c for c in known if c.mimeType in wanted])
        return transceiver

    def publish(self, name: str, track: MediaStreamTrack) -> Any:
        """Bring an input track."""
        return self._add(track, name, "sendonly")

    def _add(self, what: Any, name: str, direction: str) -> Any:
        transceiver = self.pc.addTransceiver(what, direction=direction)
        if transceiver.kind == "video":
            transceiver.receiver._RTCRtpReceiver__nack_generator = _AsksAgain()
        self._transceivers.append((transceiver, name, direction))
        return transceiver

    def open_channel(self, label: str, **options: Any) -> Any:
        channel = self.pc.createDataChannel(label, **options)
        channel.on("message", lambda frame: self.messages.append((label, frame)))
        self.channels[label] = channel
        return channel

    def open_channels(self) -> None:
        self.open_channel("data")
        self.open_channel("control")

    async def make_offer(self) -> str:
        await self.pc.setLocalDescription(await self.pc.createOffer())
        self.mapping = [
            {"mid": t.mid, "name": name, "kind": t.kind, "direction": direction}
            for t, name, direction in self._transceivers
        ]
        self._names = {t.mid: name for t, name, _ in self._transceivers}
        return str(self.pc.localDescription.sdp)

    async def connect(self, *, client_info: dict[str, str] | None = None) -> "Viewer":
        """Offer, take the answer, and wait until the transport is up."""
        offer = await self.make_offer()
        await self.signaling.offer(self.connection_id, offer, self.mapping, client_info)
        answer = await self.signaling.take_answer(self.connection_id, wait_s=1.0)
        assert answer is not None
        await self.accept(answer)
        return self

    async def accept(self, answer: str) -> None:
        self.answer = answer
        await self.pc.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await until(lambda: self.pc.connectionState == "connected")
        await until(lambda: all(c.readyState == "open" for c in self.channels.values()))

    def _take(self, track: Any) -> None:
        loop = asyncio.get_running_loop()
        self._pumps.append(loop.create_task(self._pump(track)))

    async def _pump(self, track: Any) -> None:
        transceivers = self.pc.getTransceivers()
        name = self._names[next(t.mid for t in transceivers if t.receiver.track is track)]
        while True:
            try:
                self.frames[name].append(await track.recv())
            except MediaStreamError:
                return

    async def close(self) -> None:
        await self.pc.close()
        for pump in self._pumps:
            pump.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)


def grey_of(frame: Any) -> int:
    """Return the mean of the middle of a received picture's luma."""
    luma = frame.to_ndarray(format="gray")
    return int(luma[100:140, 140:180].mean())


MakeSignaling = Callable[..., Signaling]
MakeViewer = Callable[..., Viewer]
needs_network = pytest.mark.skipif(not list_addresses(), reason="the host has only loopback")
