"""One viewer on the public Python SDK: decodes every frame, reads its number and colour.

Prints a JSON line when the first picture is there, then answers each line of stdin with one:
``report T0 T1`` (monotonic seconds), ``rtt N``, ``latency N``; ``quit`` ends it.
"""

import argparse
import asyncio
import json
import random
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "model"))

import itertools

from pattern import read_bgra
from reactor_sdk import Reactor

COLORS = ("green", "blue", "red")


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


class Viewer:
    def __init__(self, url: str, camera: str | None) -> None:
        self.reactor = Reactor("bench", local=True, api_url=url)
        self.frames: list[tuple[float, int, str]] = []
        self.errors: list[str] = []
        self.camera = camera
        self.wanted: str | None = None
        self.shown_at = 0.0
        self.shown = threading.Event()
        self.first = threading.Event()
        self.turn = 0
        self.reactor.on_error(lambda error: self.errors.append(str(error)))
        self.reactor.track("main_video").on_raw_frame(self.on_frame)

    def on_frame(self, data: bytes, width: int, height: int, *_: Any) -> None:
        now = time.monotonic()
        number, color = read_bgra(data, width, height)
        self.frames.append((now, number, color))
        if color != "black":
            self.first.set()
        if self.wanted == color:
            self.wanted, self.shown_at = None, now
            self.shown.set()

    async def connect(self, session: str | None) -> None:
        begun = time.monotonic()
        await self.reactor.connect(session_id=session)
        connected = time.monotonic()
        seen = await asyncio.to_thread(self.first.wait, 60)
        say(
            event="first" if seen else "none",
            session=self.reactor.session_id,
            connect_s=connected - begun,
            first_frame_s=self.frames[0][0] - begun if self.frames else None,
        )

    async def rtt(self, count: int) -> None:
        times = []
        for number in range(count):
            begun = time.monotonic()
            reply = await self.reactor.send_command("echo", {"text": f"x{number}"})
            assert reply
            assert reply["data"]["text"] == f"x{number}"
            times.append(time.monotonic() - begun)
        say(event="rtt", times=times)

    async def latency(self, count: int) -> None:
        times = []
        for _ in range(count):
            await asyncio.sleep(0.3 + random.random() * 0.2)
            self.shown.clear()
            self.wanted = COLORS[self.turn % 3]
            self.turn += 1
            begun = time.monotonic()
            await self.reactor.send_command("set_color", {"color": COLORS[(self.turn - 1) % 3]})
            if await asyncio.to_thread(self.shown.wait, 10):
                times.append(self.shown_at - begun)
        say(event="latency", times=times)

    def report(self, start: float, end: float) -> None:
        frames = [f for f in self.frames if start <= f[0] < end]
        times = [f[0] for f in frames]
        say(
            event="report",
            fps=len(frames) / (end - start),
            gaps=[b - a for a, b in itertools.pairwise(times)],
            errors=self.errors,
        )
        self.frames = self.frames[-5000:]


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--session")
    args = parser.parse_args()
    viewer = Viewer(args.url, None)
    await viewer.connect(args.session)
    while (words := (await asyncio.to_thread(sys.stdin.readline)).split()) and words[0] != "quit":
        if words[0] == "report":
            viewer.report(float(words[1]), float(words[2]))
        else:
            await getattr(viewer, words[0])(int(words[1]))
    await viewer.reactor.disconnect()
    viewer.reactor.close()


if __name__ == "__main__":
    asyncio.run(main())
