"""A viewer on aiortc over HTTP: what the public SDK would never send, and sound as it arrived.

It knows nothing but the wire, so it can send frames of either version that no client would, leave
in ways no client should, and look at every decoded frame with its RTP time.
"""

import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
from google.protobuf.struct_pb2 import Struct
from tests.e2e.strain import strain
from tests.unit.webrtc.viewer import Viewer
from tests.waiting import until

from reactor_runtime.wire.reactor_pb2 import (
    ControlClientMessage,
    ControlServerMessage,
    DataClientMessage,
    DataServerMessage,
    MessageKind,
)

SESSION = "00000000-0000-0000-0000-000000000000"
WEBRTC = f"/sessions/{SESSION}/transport/webrtc"


class HttpSignaling:
    """The signalling routes of a server, by the names ``Viewer`` knows."""

    def __init__(self, url: str) -> None:
        self.http = httpx.AsyncClient(base_url=url, timeout=10, trust_env=False)

    async def start_session(self) -> None:
        """Start a session; a server that is busy raises."""
        (await self.http.post("/start_session", json={})).raise_for_status()

    async def register(self) -> int:
        """Mint a connection id."""
        answer = (await self.http.post(f"{WEBRTC}/connections", json={})).raise_for_status()
        return int(answer.json()["connection_id"])

    async def offer(
        self,
        connection_id: int,
        sdp: str,
        track_mapping: Sequence[dict[str, str]] | None = None,
        client_info: dict[str, str] | None = None,
    ) -> httpx.Response:
        """Post an offer and return whatever the server says."""
        body = {"sdp_offer": sdp, "track_mapping": track_mapping, "client_info": client_info}
        url = f"{WEBRTC}/connections/{connection_id}/sdp_params"
        return await self.http.post(url, json={k: v for k, v in body.items() if v is not None})

    async def take_answer(self, connection_id: int, wait_s: float = 10.0) -> str | None:
        """Poll for the answer."""
        url = f"{WEBRTC}/connections/{connection_id}/sdp_params"
        async with asyncio.timeout(wait_s + 10.0):
            while (answer := await self.http.get(url)).status_code == 202:
                pass  # the server holds the request for a while: this is no spin
        return str(answer.raise_for_status().json()["sdp_answer"])


class WireClient(Viewer):
    """One connected client; ``messages`` and ``frames`` grow as they arrive."""

    def __init__(self, signaling: HttpSignaling, connection_id: int) -> None:
        super().__init__(signaling, connection_id)  # type: ignore[arg-type]
        self._ids = itertools.count(1)

    @property
    def replies(self) -> list[Any]:
        """Every v1 message of the data channel."""
        found = [frame for label, frame in self.messages if label == "data"]
        return [DataServerMessage.FromString(f) for f in found if isinstance(f, bytes)]

    @property
    def notices(self) -> list[Any]:
        """Every v1 message of the control channel."""
        found = [frame for label, frame in self.messages if label == "control"]
        return [ControlServerMessage.FromString(f) for f in found if isinstance(f, bytes)]

    @property
    def texts(self) -> list[dict[str, Any]]:
        """Every v0 message of the data channel."""
        found = [frame for label, frame in self.messages if label == "data"]
        return [json.loads(f) for f in found if isinstance(f, str)]

    def resume(self, track: str) -> None:
        """Ask for an output track."""
        message = ControlClientMessage(kind=MessageKind.MESSAGE_KIND_NOTIFICATION)
        message.resume_track.name = track
        self.channels["control"].send(message.SerializeToString())

    def send_command(self, name: str, arguments: dict[str, Any] | None = None) -> str:
        """Send a v1 command, whatever its arguments, and return its request id."""
        request_id = f"data_{next(self._ids)}"
        message = DataClientMessage(request_id=request_id, kind=MessageKind.MESSAGE_KIND_REQUEST)
        message.command.type = name
        body = Struct()
        body.update(arguments or {})
        message.command.data.CopyFrom(body)
        self.channels["data"].send(message.SerializeToString())
        return request_id

    async def call(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Send a v1 command and return its answer."""
        request_id = self.send_command(name, arguments)
        await until(lambda: any(m.request_id == request_id for m in self.replies), 10)
        return next(m for m in self.replies if m.request_id == request_id)

    def say(self, name: str, arguments: str) -> None:
        """Send a v0 command; *arguments* is the JSON text of its object, right or wrong."""
        head = '{"scope":"application","data":{"type":' + json.dumps(name)
        self.channels["data"].send(f'{head},"data":{arguments}}}}}')


@contextlib.asynccontextmanager
async def signaling_to(url: str) -> AsyncIterator[HttpSignaling]:
    """Speak to a server, without a session."""
    signaling = HttpSignaling(url)
    async with signaling.http:
        yield signaling


@contextlib.asynccontextmanager
async def wire_client(
    url: str, *outputs: tuple[str, str], adopt: bool = False, codec: str | None = None
) -> AsyncIterator[WireClient]:
    """Start a session (or adopt it) and connect; closes the peer, never the session.

    *outputs* are pairs of a track's name and kind; they are resumed. Of video it takes *codec*
    alone, if one is named.
    """
    async with signaling_to(url) as signaling:
        if not adopt:
            await signaling.start_session()
        client = WireClient(signaling, await signaling.register())
        try:
            await join(client, *outputs, codec=codec)
            yield client
        finally:
            await client.close()


async def join(client: WireClient, *outputs: tuple[str, str], codec: str | None = None) -> None:
    """Connect *client* to the running session and resume its outputs."""
    for name, kind in outputs:
        client.receive(name, kind, codec=codec if kind == "video" else None)
    client.open_channels()
    await client.connect(client_info={"sdk_version": "1.13.0", "sdk_type": "python"})
    for name, _ in outputs:
        client.resume(name)


async def goes_on(client: WireClient) -> None:
    """Assert that a viewer of a model with a ``level`` gets pictures at 24 fps and answers."""
    frames = client.frames["main_video"]
    seen, began = len(frames), time.monotonic()
    await until(lambda: len(frames) >= seen + 24, 3 * strain())
    assert 24 / (time.monotonic() - began) > 18 / strain()  # this process decodes, too
    assert (await client.call("set_level", {"level": 3})).error.code == ""
