"""A viewer on the Python SDK, in a program and a network of its own, seen from outside."""

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

from tests.e2e.networks import Networks
from tests.e2e.serving import ROOT
from tests.waiting import wait_for

DEADLINE_S = 20.0


class FarAway:
    """A viewer on the Python SDK in the client's network; what it prints, as words."""

    def __init__(self, net: Networks, url: str) -> None:
        command = [sys.executable, "-m", "tests.e2e.sdk_far_away", url, "blue"]
        self.process = subprocess.Popen(
            [*net.prefix(net.client), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.lines: list[list[str]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.split())

    def pictures(self, color: str, since: float) -> int:
        """Return how many pictures of *color* it was shown since then (epoch seconds)."""
        kept = [line for line in list(self.lines) if line[0] == "picture"]
        return sum(line[2] == color and float(line[1]) > since for line in kept)

    def first_picture(self, since: float) -> float | None:
        """Return when the first picture after then was shown (epoch seconds)."""
        kept = [float(line[1]) for line in list(self.lines) if line[0] == "picture"]
        return next((at for at in kept if at > since), None)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until *condition()* is true, while the viewer lives."""

        def last_lines() -> str:
            return str(self.lines[-20:])

        def holds() -> bool:
            assert self.process.poll() is None, last_lines()
            return condition()

        wait_for(holds, DEADLINE_S, last_lines)

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextlib.contextmanager
def far_away(net: Networks, url: str) -> Iterator[FarAway]:
    """A viewer who sees pictures, until the block ends."""
    viewer = FarAway(net, url)
    try:
        viewer.until(lambda: viewer.pictures("blue", 0) > 5)
        yield viewer
    finally:
        viewer.close()
