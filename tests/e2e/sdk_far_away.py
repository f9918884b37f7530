"""A program: a viewer on the Python SDK in a network of its own, that comes back when cut off.

``python -m tests.e2e.sdk_far_away URL COLOR`` prints a line for each picture (``picture``, epoch
seconds, the strongest colour), each status and each error, and ends when its input does.
"""

import asyncio
import sys
import time
from typing import Any

from reactor_sdk import ReactorError
from tests.e2e.sdk_viewer import SdkViewer, viewing

COLORS = ("red", "green", "blue")


def say(*words: Any) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


async def come_back(viewer: SdkViewer, lost: asyncio.Event) -> None:
    """Call ``reconnect`` whenever the connection is lost, until it works."""
    while True:
        await lost.wait()
        lost.clear()
        while viewer.reactor.get_status() != "ready":
            try:
                await viewer.reactor.reconnect()
            except ReactorError as error:
                say("retry", error.code)
                await asyncio.sleep(0.3)


async def watch(url: str, color: str) -> None:
    loop, lost = asyncio.get_running_loop(), asyncio.Event()
    async with viewing(url) as viewer:
        viewer.reactor.on_status(lambda status, *_: say("status", status))

        def failed(error: Any, *_: Any) -> None:
            say("error", getattr(error, "code", error))
            loop.call_soon_threadsafe(lost.set)

        viewer.reactor.on_error(failed)
        await viewer.reactor.send_command("set_color", {"color": color})
        coming_back = asyncio.create_task(come_back(viewer, lost))
        reading = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        shown = 0
        while not reading.done():
            for at, rgb in viewer.pictures[shown:]:
                shown += 1
                since_epoch = time.time() - time.monotonic() + at
                say("picture", since_epoch, COLORS[max(range(3), key=rgb.__getitem__)])
            await asyncio.sleep(0.01)  # a program's own rhythm of printing
        coming_back.cancel()


asyncio.run(watch(*sys.argv[1:]))
