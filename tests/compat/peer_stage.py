"""PeerStage: an adapter behind ``reactor serve``, and aiortc peers that look at it."""

import asyncio
import fractions
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeVar

import av
import numpy as np
from aiortc import RTCBundlePolicy, RTCConfiguration, RTCPeerConnection
from aiortc.mediastreams import AudioStreamTrack, MediaStreamTrack
from google.protobuf.json_format import MessageToDict
from tests.compat.stage import TOLERANCE, Client
from tests.e2e.serving import Served
from tests.e2e.wire_client import SESSION, HttpSignaling, WireClient
from tests.waiting import until, wait_for

from reactor_runtime import CommandError, Track, UploadedFile
from reactor_runtime.testing import Message
from reactor_runtime.wire.reactor_pb2 import ControlClientMessage, DataClientMessage, MessageKind

T = TypeVar("T")

_WAIT_S = 30.0


class Camera(MediaStreamTrack):  # type: ignore[misc]
    """Films one grey at 30 pictures a second."""

    kind = "video"

    def __init__(self) -> None:
        super().__init__()
        self.grey = 0
        self._number = 0

    async def recv(self) -> Any:
        await asyncio.sleep(1 / 30)  # a camera's own rhythm
        picture = np.full((48, 64, 3), self.grey, np.uint8)
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = self._number * 3000, fractions.Fraction(1, 90_000)
        self._number += 1
        return frame


class Microphone(AudioStreamTrack):  # type: ignore[misc]
    """Says a tone, or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.is_speaking = False
        self._said = 0

    async def recv(self) -> Any:
        silence = await super().recv()
        rate, samples = silence.sample_rate, silence.samples
        phase = (self._said + np.arange(samples)) * 2 * np.pi * 440 / rate
        self._said += samples
        wave = np.sin(phase) * (10_000 if self.is_speaking else 0)
        frame = av.AudioFrame.from_ndarray(wave.astype(np.int16)[None], format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = rate, silence.pts, silence.time_base
        return frame


class Peer(WireClient):
    """Sends and receives sound over one transport, which aiortc does only where it is told to."""

    def __init__(self, signaling: HttpSignaling, connection_id: int) -> None:
        super().__init__(signaling, connection_id)
        self.pc = RTCPeerConnection(
            RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE)
        )
        self.pc.on("track", self._take)


class LoopThread:
    """An event loop for peers, beside a test that knows none."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="peers")
        self._thread.start()

    def do(self, work: Callable[[], Awaitable[T]]) -> T:
        async def run() -> T:
            async with asyncio.timeout(_WAIT_S):
                return await work()

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result()

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class PeerClient:
    """A peer, driven from another thread than its loop's."""

    def __init__(self, loop: LoopThread, peer: Peer, inputs: dict[str, Any]) -> None:
        self._loop, self._peer, self._inputs = loop, peer, inputs
        self._heard = 0
        self._seen: dict[str, int] = {}

    def send(self, command: str, /, **arguments: Any) -> Message | None:
        reply = self._loop.do(lambda: self._call(command, arguments))
        if reply.HasField("error"):
            raise CommandError(reply.error.code, reply.error.message)
        if reply.HasField("message"):
            return Message(reply.message.type, plain(reply.message.data))
        return None

    def hear(self, name: str) -> dict[str, Any]:
        def next_one() -> Any:
            for index, message in enumerate(self._peer.replies[self._heard :], self._heard + 1):
                if message.message.type == name and not message.request_id:
                    self._heard = index
                    return message
            return None

        return plain(self._until(next_one, f"message {name}").message.data)

    def see(self, *greys: int, track: str = "main_video") -> None:
        wanted, seen = list(greys), list[int]()

        def look() -> bool:
            frames = self._peer.frames[track]
            while wanted and self._seen.get(track, 0) < len(frames):
                frame = frames[self._seen.get(track, 0)]
                self._seen[track] = self._seen.get(track, 0) + 1
                seen.append(round(frame.to_ndarray(format="rgb24").mean()))
                if abs(seen[-1] - wanted[0]) <= TOLERANCE:
                    wanted.pop(0)
            return not wanted

        self._until(look, f"greys {greys} of {track}, seen {seen}")

    def listen(self, track: str, samples: int) -> Sequence[int]:
        def heard() -> Any:
            frames = self._peer.frames[track]
            if not frames:
                return None
            sound = np.concatenate([f.to_ndarray().reshape(-1, 2)[:, 0] for f in list(frames)])
            loud = np.flatnonzero(np.abs(sound) > 50)
            begun = sound[loud[0] :] if loud.size else sound[:0]
            return begun[:samples] if len(begun) >= samples else None

        return [int(value) for value in self._until(heard, f"sound of {track}")]

    def show(self, **greys: int) -> None:
        for track, grey in greys.items():
            self._inputs[track].grey = grey

    def speak(self, track: str, seconds: float) -> None:
        self._inputs[track].is_speaking = True

    def upload(self, file: UploadedFile) -> None:
        self._loop.do(lambda: self._announce(file))

    def error(self) -> str:
        def first() -> Any:
            told = [m for m in self._peer.replies if m.HasField("error") and not m.request_id]
            return told[0].error.message if told else None

        text = str(self._until(first, "failure"))
        self._until(lambda: self._peer.channels["data"].readyState == "closed", "the end")
        return text

    def leave(self) -> None:
        self._loop.do(self._peer.close)

    def _until(self, found: Callable[[], Any], what: str) -> Any:
        async def wait() -> Any:
            try:
                await until(found_now, _WAIT_S - 5)
            except TimeoutError:
                raise AssertionError(f"never came: {what}") from None
            return kept[0]

        kept: list[Any] = []

        def found_now() -> bool:
            kept[:] = [found()]
            return bool(kept[0]) if not isinstance(kept[0], np.ndarray) else True

        return self._loop.do(wait)

    async def _call(self, command: str, arguments: dict[str, Any]) -> Any:
        files = {n: v for n, v in arguments.items() if isinstance(v, UploadedFile)}
        references = {name: await self._send_file(file) for name, file in files.items()}
        plain_ones = {name: v for name, v in arguments.items() if name not in files}
        if not references:
            return await self._peer.call(command, plain_ones)
        message = DataClientMessage(
            request_id=f"file_{id(references)}", kind=MessageKind.MESSAGE_KIND_REQUEST
        )
        message.command.type = command
        message.command.data.update(plain_ones)
        for name, upload_id in references.items():
            message.command.uploads[name].upload_id = upload_id
        self._peer.channels["data"].send(message.SerializeToString())
        await until(lambda: any(m.request_id == message.request_id for m in self._peer.replies), 15)
        return next(m for m in self._peer.replies if m.request_id == message.request_id)

    async def _send_file(self, file: UploadedFile) -> str:
        http = self._peer.signaling.http  # type: ignore[attr-defined]
        about = {"name": file.name, "size": file.size, "mime_type": file.mime_type}
        answer = (await http.post(f"/sessions/{SESSION}/uploads", json=about)).raise_for_status()
        place = answer.json()
        (await http.put(place["presigned_url"], content=file.data)).raise_for_status()
        return str(place["presigned_id"])

    async def _announce(self, file: UploadedFile) -> None:
        message = ControlClientMessage(kind=MessageKind.MESSAGE_KIND_NOTIFICATION)
        told = message.file_uploaded
        told.upload_id, told.name = await self._send_file(file), file.name
        told.mime_type, told.size = file.mime_type, file.size
        self._peer.channels["control"].send(message.SerializeToString())


async def publish(peer: Peer, track: str) -> None:
    """Ask for an input track and wait until it is granted."""
    request = ControlClientMessage(
        request_id=f"publish_{track}", kind=MessageKind.MESSAGE_KIND_REQUEST
    )
    request.publish_track.name = track
    peer.channels["control"].send(request.SerializeToString())
    await until(lambda: any(n.request_id == request.request_id for n in peer.notices), 15)
    answer = next(n for n in peer.notices if n.request_id == request.request_id)
    assert not answer.HasField("error"), answer


def plain(data: Any) -> dict[str, Any]:
    """Return a protobuf Struct as JSON has it."""
    found: dict[str, Any] = MessageToDict(data)
    return found


class PeerStage:
    """An adapter in a server's process, or on that server's ranks."""

    def __init__(self, served: Served, ranks: int, tracks: Sequence[Track]) -> None:
        self.ranks = ranks
        self._served, self._tracks = served, tracks
        self._loop = LoopThread()
        self._stack = AsyncExitStack()
        self._signaling: HttpSignaling | None = None

    def connect(self) -> Client:
        self._served.wait_for_state("ready", "waiting", "streaming", "orphaned")
        return self._loop.do(self._connect)

    def end_session(self) -> None:
        async def stop() -> None:
            assert self._signaling is not None
            (await self._signaling.http.post("/stop_session", json={})).raise_for_status()

        self._loop.do(stop)
        self._served.wait_for_state("ready")

    def logged(self, words: str) -> str:
        wait_for(lambda: words in self._served.log(), otherwise=self._served.log)
        return self._served.log()

    def close(self) -> None:
        self._loop.do(self._stack.aclose)
        self._loop.close()

    async def _connect(self) -> PeerClient:
        if self._signaling is None:
            self._signaling = HttpSignaling(self._served.url)
            await self._stack.enter_async_context(self._signaling.http)
        state = json.loads((await self._signaling.http.get("/session")).text)["state"]
        if state == "ready":
            await self._signaling.start_session()
        peer = Peer(self._signaling, await self._signaling.register())
        inputs: dict[str, Any] = {}
        for track in self._tracks:
            if track.direction == "out":
                peer.receive(track.name, track.kind)
            else:
                inputs[track.name] = Camera() if track.kind == "video" else Microphone()
                peer.publish(track.name, inputs[track.name])
        peer.open_channels()
        self._stack.push_async_callback(peer.close)
        await peer.connect(client_info={"sdk_version": "1.13.0", "sdk_type": "python"})
        for track in self._tracks:
            if track.direction == "out":
                peer.resume(track.name)
        for name in inputs:
            await publish(peer, name)
        ping = ControlClientMessage(kind=MessageKind.MESSAGE_KIND_NOTIFICATION)
        ping.ping.SetInParent()  # as the public clients do; it tells which version they speak
        peer.channels["control"].send(ping.SerializeToString())
        return PeerClient(self._loop, peer, inputs)
