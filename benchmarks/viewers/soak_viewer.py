"""The viewer that stays: watches, sends 20 commands a second, feeds a camera and sees it come back.

The camera's picture is a flat grey that steps once a second; the time until the step is back in the
returned picture is its age. Answers ``report T0 T1`` and ``quit`` like the other viewers.
"""

import argparse
import asyncio
import json
import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
from reactor_sdk import Reactor

WIDTH, HEIGHT, CAMERA_FPS = 640, 360, 30
LEVELS = (40, 120, 200)
COMMANDS_PER_S = 20


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


class SoakViewer:
    def __init__(self, url: str) -> None:
        self.reactor = Reactor("soak", local=True, api_url=url)
        self.frames: list[float] = []
        self.replies: list[tuple[float, float]] = []
        self.ages: list[tuple[float, float]] = []
        self.errors: list[str] = []
        self.stepped_at: float | None = None
        self.level = LEVELS[0]
        self.reactor.on_error(lambda error: self.errors.append(str(error)))
        self.reactor.track("main_video").on_raw_frame(self.on_frame)

    def on_frame(self, data: bytes, width: int, height: int, *_: Any) -> None:
        now = time.monotonic()
        self.frames.append(now)
        at = ((150 + HEIGHT // 2) * width + 300 + WIDTH // 2) * 4
        if self.stepped_at is not None and abs(data[at] - self.level) < 20:
            self.ages.append((now, now - self.stepped_at))
            self.stepped_at = None

    async def feed(self) -> None:
        camera = await self.reactor.track("camera").publish()
        number = 0
        while True:
            if number % CAMERA_FPS == 0:
                self.level = LEVELS[number // CAMERA_FPS % len(LEVELS)]
                self.stepped_at = time.monotonic()
            camera.push_frame(np.full((HEIGHT, WIDTH, 3), self.level, np.uint8))
            number += 1
            await asyncio.sleep(1 / CAMERA_FPS)

    async def steer(self) -> None:
        number = 0
        while True:
            begun = time.monotonic()
            try:
                if number % 2:
                    await self.reactor.send_command("set_level", {"level": number % 100 / 100})
                else:
                    await self.reactor.send_command("echo", {"text": str(number)})
            except Exception as error:  # noqa: BLE001 - whatever it is, the run reports it
                self.errors.append(repr(error))
            self.replies.append((begun, time.monotonic() - begun))
            number += 1
            await asyncio.sleep(max(0.0, begun + 1 / COMMANDS_PER_S - time.monotonic()))

    def report(self, start: float, end: float) -> None:
        frames = [t for t in self.frames if start <= t < end]
        say(
            event="report",
            fps=len(frames) / (end - start),
            gaps=[b - a for a, b in pairwise(frames)],
            replies=[r for t, r in self.replies if start <= t < end],
            camera_ages=[a for t, a in self.ages if start <= t < end],
            errors=self.errors,
        )
        self.frames, self.replies, self.ages, self.errors = [], [], [], []


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    viewer = SoakViewer(parser.parse_args().url)
    await viewer.reactor.connect()
    tasks = [asyncio.create_task(viewer.feed()), asyncio.create_task(viewer.steer())]
    say(event="first", session=viewer.reactor.session_id)
    while (words := (await asyncio.to_thread(sys.stdin.readline)).split()) and words[0] != "quit":
        viewer.report(float(words[1]), float(words[2]))
    for task in tasks:
        task.cancel()
    await viewer.reactor.disconnect()
    viewer.reactor.close()


if __name__ == "__main__":
    asyncio.run(main())
