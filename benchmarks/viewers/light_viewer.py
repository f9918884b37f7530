"""Receive-only viewers on aiortc that reassemble RTP and decode nothing: they cost little.

Speaks the same lines as sdk_viewer.py (``report`` and ``quit``), and ``broadcast RATE 0``: have the
model send everybody RATE messages a second. ``--count`` viewers share one process.
"""

import argparse
import asyncio
import itertools
import json
import sys
import threading
import time
from typing import Any

import aiortc.codecs
import aiortc.rtcrtpreceiver as receiver
import httpx
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.rtcrtpparameters import RTCRtcpFeedback, RTCRtpCodecParameters

FRAMES: dict[int, list[float]] = {}
LOCK = threading.Lock()


def count_frames(loop: asyncio.AbstractEventLoop, inputs: Any, outputs: Any, *_: Any) -> None:
    """Stand where aiortc decodes: note that a frame came."""
    while inputs.get() is not None:
        with LOCK:
            FRAMES.setdefault(id(inputs), []).append(time.monotonic())
    asyncio.run_coroutine_threadsafe(outputs.put(None), loop)


receiver.decoder_worker = count_frames


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def offer_codecs(names: list[str]) -> None:
    """Offer only these codecs; aiortc knows no VP9, which needs no decoder here."""
    video = aiortc.codecs.CODECS["video"]
    feedback = [
        RTCRtcpFeedback("nack"),
        RTCRtcpFeedback("nack", "pli"),
        RTCRtcpFeedback("goog-remb"),
    ]
    if "VP9" in names:
        vp9 = RTCRtpCodecParameters(
            mimeType="video/VP9",
            clockRate=90000,
            payloadType=118,
            rtcpFeedback=feedback,
            parameters={"profile-id": "0"},
        )
        video.insert(0, vp9)
    video[:] = [c for c in video if c.name in names]


class Viewer:
    def __init__(self, http: httpx.AsyncClient, url: str, session: str) -> None:
        self.http = http
        self.base = f"{url}/sessions/{session}/transport/webrtc/connections"
        self.peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.data = self.peer.createDataChannel("data")
        self.control = self.peer.createDataChannel("control")
        self.open = asyncio.Event()
        self.messages: list[float] = []
        self.data.on("message", lambda _: self.messages.append(time.monotonic()))

    async def connect(self) -> None:
        video = self.peer.addTransceiver("video", direction="recvonly")
        self.control.on("open", self.resume)
        await self.peer.setLocalDescription(await self.peer.createOffer())
        minted = (await self.http.post(self.base, json={})).raise_for_status()
        url = f"{self.base}/{minted.json()['connection_id']}/sdp_params"
        mapping = {"mid": video.mid, "name": "main_video", "kind": "video", "direction": "recvonly"}
        body = {"sdp_offer": self.peer.localDescription.sdp, "track_mapping": [mapping]}
        response = await self.http.post(url, json=body)
        assert response.status_code == 202, response.text
        answer = await asyncio.wait_for(self.answer(url), 20)
        await self.peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await asyncio.wait_for(self.open.wait(), 20)

    async def answer(self, url: str) -> str:
        while True:
            response = await self.http.get(url)
            if response.status_code == 200:
                return str(response.json()["sdp_answer"])
            await asyncio.sleep(0.01)

    def resume(self) -> None:
        note = {"type": "notification", "event": "resume_track", "data": {"name": "main_video"}}
        self.control.send(json.dumps(note))
        self.open.set()

    def ping(self) -> None:
        if self.data.readyState == "open":
            self.data.send(json.dumps({"scope": "runtime", "data": {"type": "ping", "data": {}}}))

    def broadcast(self, rate: int) -> None:
        call = {"type": "broadcast", "data": {"rate": rate}}
        self.data.send(json.dumps({"scope": "application", "data": call}))


async def ping(viewers: list[Viewer]) -> None:
    while True:
        for viewer in viewers:
            viewer.ping()
        await asyncio.sleep(5)


def report(viewers: list[Viewer], start: float, end: float) -> None:
    with LOCK:
        kept = [[t for t in times if start <= t < end] for times in FRAMES.values()]
    rates = [len(times) / (end - start) for times in kept]
    gaps = [b - a for times in kept for a, b in itertools.pairwise(times)]
    said = [sum(start <= t < end for t in viewer.messages) for viewer in viewers]
    say(
        event="report",
        fps=min(rates, default=0.0),
        viewers=len(rates),
        gaps=gaps,
        messages=min(said, default=0) / (end - start),
        errors=[],
    )


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--session")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--codecs", default="VP8")
    args = parser.parse_args()
    offer_codecs(args.codecs.split(","))
    begun = time.monotonic()
    async with httpx.AsyncClient(timeout=30, trust_env=False) as http:
        session = args.session
        if session is None:
            started = (await http.post(args.url + "/start_session", json={})).raise_for_status()
            session = started.json()["session_id"]
        viewers = [Viewer(http, args.url, session) for _ in range(args.count)]
        for viewer in viewers:
            await viewer.connect()
        pinger = asyncio.ensure_future(ping(viewers))
        deadline = time.monotonic() + 30
        while len(FRAMES) < args.count and time.monotonic() < deadline:  # noqa: ASYNC110 - other threads
            await asyncio.sleep(0.005)
        first = min((times[0] for times in FRAMES.values()), default=begun)
        say(
            event="first" if FRAMES else "none",
            session=session,
            connect_s=None,
            first_frame_s=first - begun,
        )
        while (words := (await asyncio.to_thread(sys.stdin.readline)).split()) and words[
            0
        ] != "quit":
            if words[0] == "broadcast":
                viewers[0].broadcast(int(words[1]))
                say(event="broadcast")
            else:
                report(viewers, float(words[1]), float(words[2]))
        pinger.cancel()
        await asyncio.gather(*(viewer.peer.close() for viewer in viewers))
        if args.session is None:
            await http.post(args.url + "/stop_session", json={})


if __name__ == "__main__":
    asyncio.run(main())
