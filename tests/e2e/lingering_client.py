"""A client in a process of its own, to be killed while it watches; and the slot it leaves."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator

from tests.e2e.serving import ROOT, Served
from tests.e2e.wire_client import HttpSignaling, wire_client

SLOT_DEADLINE_S = 6.0


async def watch(url: str) -> None:
    async with wire_client(url, ("main_video", "video")) as client:
        await client.call("set_level", {"level": 7})
        sys.stdout.write("watching\n")
        sys.stdout.flush()
        await asyncio.sleep(600)  # until it is killed


@contextlib.asynccontextmanager
async def lingering_client(served: Served) -> AsyncIterator[asyncio.subprocess.Process]:
    """Give its process once it watches."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, served.url, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert (await process.stdout.readline()).strip() == b"watching"
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def free_slot(signaling: HttpSignaling) -> None:
    """Ask for the slot until it is given."""
    async with asyncio.timeout(SLOT_DEADLINE_S):
        while (await signaling.http.post("/start_session", json={})).status_code != 200:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    asyncio.run(watch(sys.argv[1]))
