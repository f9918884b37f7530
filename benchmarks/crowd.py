"""Many viewers of one server: what they cost it and what each of them gets."""

import contextlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from rig import Runtime, Server, Viewer

LIGHT_PER_PROCESS = 8  # one interpreter cannot receive for many more


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The server's cores and megabytes, and the frame rate of the viewer who got least."""

    cores: float
    lowest_fps: float
    memory_mb: float


def watch(side: Runtime, kind: str, count: int, window_s: float) -> Crowd:
    """Serve *count* viewers for a while: ``sdk`` ones that decode, or ``light`` ones."""
    with Server(side) as server, joined(side, kind, count) as viewers:
        time.sleep(3)
        begun, used = time.monotonic(), server.cpu_s()
        time.sleep(window_s)
        ended, memory = time.monotonic(), server.rss_mb()
        cores = (server.cpu_s() - used) / (ended - begun)
        rates = [viewer.ask(f"report {begun} {ended}")["fps"] for viewer in viewers]
    return Crowd(cores=cores, lowest_fps=min(rates), memory_mb=memory)


@contextlib.contextmanager
def joined(side: Runtime, kind: str, count: int) -> Iterator[list[Viewer]]:
    """Let *count* viewers join the server's session until the block ends."""
    with contextlib.ExitStack() as stack:
        viewers: list[Viewer] = []
        for python, *flags in _programs(side, kind, count):
            session = viewers[0].first.get("session") if viewers else None
            viewers.append(Viewer(python, kind, *flags, session=session))
            stack.callback(viewers[-1].quit)
        yield viewers


def _programs(side: Runtime, kind: str, count: int) -> list[tuple[str, ...]]:
    """Return the interpreter and the flags of every process the viewers need."""
    if kind == "sdk":
        return [(side.python,)] * count
    codecs = "VP9" if side.name == "peer" else "VP8"
    full, rest = divmod(count, LIGHT_PER_PROCESS)
    sizes = [LIGHT_PER_PROCESS] * full + [rest] * bool(rest)
    return [(sys.executable, "--codecs", codecs, "--count", str(size)) for size in sizes]
