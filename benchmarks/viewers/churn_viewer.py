"""A viewer who starts a session, sees its first picture and stops it, again and again.

Each ``session`` on stdin is one session, answered with its seconds to the first picture and to the
end; ``quit`` ends it.
"""

import argparse
import asyncio
import sys
import time

import aiohttp
from light_viewer import FRAMES, Viewer, offer_codecs, say

DEADLINE_S = 30.0


async def one_session(http: aiohttp.ClientSession, url: str) -> None:
    FRAMES.clear()
    begun = time.monotonic()
    async with http.post(url + "/start_session", json={}) as response:
        assert response.status == 200, await response.text()
        session = (await response.json())["session_id"]
    viewer = Viewer(http, url, session)
    await viewer.connect()
    while not FRAMES and time.monotonic() < begun + DEADLINE_S:  # noqa: ASYNC110 - another thread's
        await asyncio.sleep(0.002)
    seen = time.monotonic() - begun
    await viewer.peer.close()
    async with http.post(url + "/stop_session", json={}) as response:
        await response.read()
    say(event="session", first_s=seen, whole_s=time.monotonic() - begun, seen=bool(FRAMES))


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    url = parser.parse_args().url
    offer_codecs(["VP8"])
    async with aiohttp.ClientSession() as http:
        say(event="first")
        while (await asyncio.to_thread(sys.stdin.readline)).strip() == "session":
            await one_session(http, url)


if __name__ == "__main__":
    asyncio.run(main())
