"""Drives a headless Chromium over its debugging protocol, to use a page as a person does.

``async with Chromium() as browser`` starts one with a fresh profile and, whatever happened, leaves
no process and no file behind. Every wait has a deadline.
"""

import asyncio
import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import tempfile
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tests.e2e.networks import inside
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--autoplay-policy=no-user-gesture-required",
    "--remote-debugging-port=0",
)
START_S = 30.0
CALL_S = 30.0


def find_chromium() -> str | None:
    """Return the browser's path, ``None`` where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class CdpError(Exception):
    """The browser refused a call, or a script of the page threw."""


class Chromium:
    """One browser process. Its tabs share a profile, as a person's do.

    Args:
        extra_flags: For its command line.
        network: The network namespace it runs in; this process's own unless given.
    """

    def __init__(self, *extra_flags: str, network: str | None = None) -> None:
        self._extra_flags, self._network = extra_flags, network
        self._folder = Path(tempfile.mkdtemp(prefix="chromium-test-"))
        self._process: asyncio.subprocess.Process | None = None
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._count = 0
        self._listeners: dict[str, Callable[[str, dict[str, Any]], None]] = {}

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _start(self) -> None:
        path = find_chromium()
        if path is None:
            raise FileNotFoundError("no Chromium on the path")
        prefix = () if self._network is None else ("ip", "netns", "exec", self._network)
        self._process = await asyncio.create_subprocess_exec(
            *prefix,
            path,
            *FLAGS,
            *self._extra_flags,
            f"--user-data-dir={self._folder}",
            "about:blank",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        address = await asyncio.wait_for(self._debugging_address(), START_S)
        link = inside(self._network, lambda: _dial(address))
        self._socket = await connect(address, sock=link, max_size=None, ping_interval=None)
        self._reader = asyncio.create_task(self._read(self._socket))

    async def _debugging_address(self) -> str:
        written = self._folder / "DevToolsActivePort"
        while True:
            lines = written.read_text().split("\n") if written.exists() else []
            if len(lines) >= 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            assert self._process is not None
            assert self._process.returncode is None, "Chromium ended while starting"
            await asyncio.sleep(0.02)

    async def _read(self, socket: ClientConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in socket:
                message = json.loads(text)
                call = self._calls.pop(message.get("id", -1), None)
                if call is not None and not call.done():
                    call.set_result(message)
                elif listener := self._listeners.get(message.get("sessionId", "")):
                    listener(message["method"], message["params"])

    async def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Call *method* and return its result."""
        assert self._socket is not None
        self._count += 1
        number = self._count
        answer = self._calls[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": params}
        await self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        result = await asyncio.wait_for(answer, CALL_S)
        if "error" in result:
            raise CdpError(f"{method}: {result['error']['message']}")
        found: dict[str, Any] = result["result"]
        return found

    async def open(self, url: str = "about:blank") -> "Tab":
        """Open *url* in a new tab, which people would see."""
        target = (await self.call("Target.createTarget", url="about:blank"))["targetId"]
        attached = await self.call("Target.attachToTarget", targetId=target, flatten=True)
        tab = Tab(self, target, attached["sessionId"])
        self._listeners[tab.session] = tab.hear
        for domain in ("Page", "Runtime", "Log"):
            await tab.call(f"{domain}.enable")
        if url != "about:blank":
            await tab.go(url)
        return tab

    def kill(self) -> None:
        """End it without a word to anybody, as a crash or a closed laptop would."""
        assert self._process is not None
        _signal_group(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the browser and remove its profile."""
        if self._socket is not None:
            with contextlib.suppress(ConnectionClosed, OSError, TimeoutError):
                await asyncio.wait_for(self._socket.send('{"id":0,"method":"Browser.close"}'), 1)
        if self._process is not None:
            await self._end(self._process)
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._socket is not None:
            await self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                await asyncio.wait_for(process.wait(), 3)
            except TimeoutError:
                _signal_group(process.pid, number)
        await process.wait()
        _signal_group(process.pid, signal.SIGKILL)  # its helpers, which it may have left behind


def _dial(address: str) -> socket.socket:
    place = urllib.parse.urlsplit(address)
    link = socket.create_connection((place.hostname or "", place.port or 0), START_S)
    link.setblocking(False)
    return link


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


class Tab:
    """One page.

    Attributes:
        problems: Uncaught exceptions and console errors, as text.
    """

    def __init__(self, browser: Chromium, target: str, session: str) -> None:
        self.session = session
        self.problems: list[str] = []
        self._browser = browser
        self._target = target

    def hear(self, method: str, params: dict[str, Any]) -> None:
        """Take an event of the browser."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            self.problems.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.problems.append(str([each.get("value") for each in params["args"]]))

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call *method* on this page."""
        return await self._browser.call(method, self.session, **params)

    async def go(self, url: str) -> None:
        """Load *url*; returns once the navigation is accepted."""
        await self.call("Page.navigate", url=url)

    async def evaluate(self, expression: str) -> Any:
        """Return the value of *expression*, awaited if it is a promise."""
        answer = await self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise CdpError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    async def wait_for(self, expression: str, timeout_s: float = 15.0) -> Any:
        """Return the first truthy value of *expression*."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while True:
            try:
                value = await self.evaluate(expression)
            except CdpError as error:  # the page may be between two documents
                value, trouble = None, f" (last error: {error})"
            else:
                trouble = ""
            if value:
                return value
            if asyncio.get_running_loop().time() > deadline:
                state = await self.evaluate("document.body?.innerText.slice(0, 1500)")
                raise TimeoutError(f"not within {timeout_s} s: {expression}{trouble}\n{state}")
            await asyncio.sleep(0.04)

    async def show(self) -> None:
        """Bring the tab to the front: a browser makes those behind it wait."""
        await self.call("Page.bringToFront")

    async def click(self, selector: str) -> None:
        """Click the middle of the first element that matches, as a mouse would."""
        await self.show()
        x, y = await self.wait_for(_MIDDLE.replace("SELECTOR", json.dumps(selector)))
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            await self._mouse(kind, x, y)

    async def _mouse(self, kind: str, x: float, y: float) -> None:
        where = {"x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1}
        await self.call("Input.dispatchMouseEvent", type=kind, **where)

    async def press(self, key: str, *, hold_s: float = 0.0) -> None:
        """Press and release *key*, named as in ``KeyboardEvent.key``."""
        text = {"text": "\r"} if key == "Enter" else ({"text": key} if len(key) == 1 else {})
        codes = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        code = codes.get(key, ord(key[0].upper()))
        common = {"key": key, "windowsVirtualKeyCode": code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        await asyncio.sleep(hold_s)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    async def type(self, text: str) -> None:
        """Type *text* into the focused element."""
        await self.call("Input.insertText", text=text)

    async def drag_range(self, selector: str, share: float) -> None:
        """Move a slider's thumb to *share* of its width, passing what lies between."""
        await self.show()
        box = await self.wait_for(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " if (!e) return null; e.scrollIntoView({block: 'nearest'});"
            " const r = e.getBoundingClientRect(); const s = (e.value - e.min) / (e.max - e.min);"
            " return [r.left, r.top, r.width, r.height, s] })()"
        )
        left, top, width, height, now = box
        y = top + height / 2
        places = [left + 9 + (width - 18) * (now + (share - now) * k / 8) for k in range(9)]
        steps = [("mousePressed", places[0]), *(("mouseMoved", x) for x in places[1:])]
        for kind, x in [*steps, ("mouseReleased", places[-1])]:
            await self._mouse(kind, x, y)

    async def emulate(
        self,
        width: int,
        height: int,
        *,
        dark: bool = False,
        phone: bool = False,
        scale: float = 1.0,
    ) -> None:
        """Give the page a window of this size, a colour scheme, and fingers if it is a phone."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=phone,
        )
        await self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def screenshot(self) -> bytes:
        """Return what the page looks like now as PNG."""
        picture = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(picture["data"])

    async def close(self) -> None:
        """Close the tab, as a person would."""
        await self._browser.call("Target.closeTarget", targetId=self._target)


_MIDDLE = """(() => {
  const element = document.querySelector(SELECTOR);
  if (!element) return null;
  element.scrollIntoView({ block: "nearest" });
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.height === 0) return null;
  return [box.left + box.width / 2, box.top + box.height / 2];
})()"""
