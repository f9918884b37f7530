"""What ``reactor serve`` tells the person who started it: a few plain lines on standard output.

Everything else is a log line on standard error. None of it holds the token.
"""

import contextlib
import sys
import threading
from typing import TextIO

from reactor_runtime.errors import ReactorError
from reactor_runtime.host_port import join_host_port
from reactor_runtime.log import get_logger
from reactor_runtime.loopback import is_loopback
from reactor_runtime.settings import ServeSettings

_LONGEST_LINE = 2000
_WILDCARDS = frozenset({"0.0.0.0", "::", ""})

log = get_logger(__name__)


def announce(line: str) -> None:
    """Say *line* to the person at the terminal, if there is one."""
    _say(line, sys.stdout)


def print_error(error: ReactorError | str) -> None:
    """Say in one line why the server ends."""
    text = " ".join(str(error).split())
    if len(text) > _LONGEST_LINE:
        text = f"{text[:_LONGEST_LINE]}…"
    _say(f"reactor: {text}", sys.stderr)


def page_address(settings: ServeSettings, port: int) -> str:
    """Return the page's address as seen from this machine."""
    host = settings.host.strip("[]")
    if host in _WILDCARDS:
        host = "127.0.0.1"
    return f"http://{join_host_port(host, port)}/"


def announce_address(settings: ServeSettings, port: int) -> None:
    """Say where the page is, warn when strangers can reach it, and open it if that was asked."""
    address = page_address(settings, port)
    token = " (a token is needed: add ?token=…)" if settings.token else ""
    announce(f"Open {address}{token}")
    if settings.token is None and not is_loopback(settings.host):
        log.warning(
            "open_to_the_network",
            host=settings.host,
            open="page, sessions, commands, video, camera and files, events, metrics",
            cure="set REACTOR_TOKEN, or bind 127.0.0.1",
        )
    if settings.open_browser:
        threading.Thread(target=_show_page, args=(address,), daemon=True).start()


def _say(line: str, stream: TextIO) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody reads; ValueError: already closed
        # With its end, in one write: under PYTHONUNBUFFERED a log line could come between the two.
        print(f"{line}\n", end="", file=stream, flush=True)


def _show_page(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        announce(f"No browser was found to open {address} in")
