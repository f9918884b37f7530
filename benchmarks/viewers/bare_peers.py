"""Two bare aiortc peers in two processes: offer to open channel, and echoes, in seconds as JSON.

python bare_peers.py COUNT
"""

import asyncio
import json
import subprocess
import sys
import time
from typing import Any

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

CONNECTS = 5


def make_peer() -> RTCPeerConnection:
    return RTCPeerConnection(RTCConfiguration(iceServers=[]))


async def answer() -> None:
    """Be the far side: an offer on stdin, the answer on stdout, until stdin ends."""
    peers = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        peer = make_peer()
        peers.append(peer)

        @peer.on("datachannel")
        def echo(channel: Any) -> None:
            channel.on("message", channel.send)

        await peer.setRemoteDescription(RTCSessionDescription(json.loads(line), "offer"))
        await peer.setLocalDescription(await peer.createAnswer())
        print(json.dumps(peer.localDescription.sdp), flush=True)
    await asyncio.gather(*(peer.close() for peer in peers))


class Near:
    """The side that offers."""

    def __init__(self, far: "subprocess.Popen[str]") -> None:
        self.far = far
        self.peer = make_peer()
        self.channel = self.peer.createDataChannel("data")
        self.opened = asyncio.Event()
        self.echoed = asyncio.Event()
        self.channel.on("open", self.opened.set)
        self.channel.on("message", lambda _: self.echoed.set())

    async def connect(self) -> float:
        began = time.perf_counter()
        await self.peer.setLocalDescription(await self.peer.createOffer())
        assert self.far.stdin
        assert self.far.stdout
        self.far.stdin.write(json.dumps(self.peer.localDescription.sdp) + "\n")
        self.far.stdin.flush()
        sdp = json.loads(await asyncio.to_thread(self.far.stdout.readline))
        await self.peer.setRemoteDescription(RTCSessionDescription(sdp, "answer"))
        await asyncio.wait_for(self.opened.wait(), 20)
        return time.perf_counter() - began

    async def echo(self) -> float:
        began = time.perf_counter()
        self.echoed.clear()
        self.channel.send("x" * 40)
        await asyncio.wait_for(self.echoed.wait(), 20)
        return time.perf_counter() - began


async def measure(far: "subprocess.Popen[str]", count: int) -> None:
    connects, echoes = [], []
    for turn in range(CONNECTS):
        near = Near(far)
        connects.append(await near.connect())
        if turn == CONNECTS - 1:
            echoes = [await near.echo() for _ in range(count)]
        await near.peer.close()
    print(json.dumps({"connect": connects, "echo": echoes}))


def main() -> None:
    if sys.argv[1] == "answer":
        asyncio.run(answer())
        return
    command = [sys.executable, __file__, "answer"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as far:
        asyncio.run(measure(far, int(sys.argv[1])))
        assert far.stdin
        far.stdin.close()


if __name__ == "__main__":
    main()
