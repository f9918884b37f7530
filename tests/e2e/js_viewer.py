"""A viewer on the published JS SDK in a browser: connects, counts pictures, reads their colour."""

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from tests.e2e.chromium import Chromium, Tab
from tests.e2e.js_bundle import SOURCES, page_of
from tests.e2e.serving import Served

CENTRE, RIGHT, BELOW = (0.4, 0.5), (0.9, 0.6), (0.05, 0.95)


@contextlib.contextmanager
def viewer_page(server: Served) -> Iterator[str]:
    """Give the address of a page, of an origin of its own, that has a viewer of *server*."""
    source = (SOURCES / "viewer.js").read_text()
    with page_of(source, "<video muted playsinline></video>") as address:
        yield f"{address}?server={server.url}"


@contextlib.asynccontextmanager
async def viewing(browser: Chromium, page: str, server: Served) -> AsyncIterator[Tab]:
    """Connect a viewer; its session ends with it."""
    server.wait_for_state("ready")
    tab = await browser.open(page)
    try:
        await tab.wait_for("globalThis.viewer")
        await tab.evaluate("viewer.reactor.connect()")
        await tab.wait_for("viewer.status === 'ready'")
        yield tab
    finally:
        await tab.close()
        server.end_session()


async def send(tab: Tab, command: str, scope: str = "application", **arguments: object) -> None:
    what = f"{json.dumps(command)}, {json.dumps(arguments)}, {json.dumps(scope)}"
    await tab.evaluate(f"viewer.reactor.sendCommand({what})")


async def frames(tab: Tab, count: int, timeout_s: float = 15) -> None:
    """Wait for *count* more pictures."""
    await tab.show()
    goal = await tab.evaluate("viewer.frames") + count
    await tab.wait_for(f"viewer.frames >= {goal}", timeout_s)


async def see(tab: Tab, place: tuple[float, float], *color: int, timeout_s: float = 15) -> None:
    """Wait until the picture has about this colour at a place."""
    await tab.show()
    near = f"v.every((c, i) => Math.abs(c - {list(color)}[i]) < 24)"
    await tab.wait_for(f"((v) => {near})(viewer.color({place[0]}, {place[1]}))", timeout_s)


async def message(tab: Tab, name: str, of: str = "messages") -> dict[str, Any]:
    """Wait for a message of this name and return its body."""
    found = f"viewer.{of}.find((m) => m.type === {json.dumps(name)})"
    await tab.wait_for(f"!!{found}")
    body: dict[str, Any] = await tab.evaluate(f"{found}.data")
    return body
