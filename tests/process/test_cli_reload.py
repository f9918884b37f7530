"""``reactor serve --reload``: the server starts again when a file changes, and only then."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.process.cli import environment
from tests.waiting import wait_for

DEADLINE_S = 20.0

# Stands in for the server: says what it read and waits for a signal, or ends as it is told.
SERVER = """\
import os, signal, sys, time
text = open(os.path.join(@FOLDER@, "model.py")).read().strip()
def stop(number, frame):
    print(f"stopped {text} by {signal.Signals(number).name}", flush=True)
    sys.exit(0)
if text == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
print(f"serving {text} {' '.join(sys.argv[1:])} pid={os.getpid()}".replace("  ", " "), flush=True)
if text == "broken":
    sys.exit(3)
time.sleep(60)
"""

PARENT = """\
import sys
from pathlib import Path
from reactor_runtime.cli.folder_watch import FolderWatch
from reactor_runtime.cli.reload import ReloadLoop
command = [sys.executable, "-c", @SERVER@]
say = lambda text: print(f"said {text}", flush=True)
loop = ReloadLoop(command, FolderWatch(Path(@FOLDER@)), say, stop_grace_s=@GRACE@)
sys.exit(loop.run([*command, "first"]))
"""


class Reloading:
    """A running parent, what it and its servers printed, and the model file they watch."""

    def __init__(self, folder: Path, grace_s: float) -> None:
        self.model = folder / "model.py"
        self.model.write_text("one")
        self._output = folder / "output.log"
        server = SERVER.replace("@FOLDER@", repr(str(folder)))
        code = PARENT.replace("@FOLDER@", repr(str(folder))).replace("@GRACE@", str(grace_s))
        with self._output.open("wb") as sink:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code.replace("@SERVER@", repr(server))],
                stdout=sink, stderr=sink, env=environment(),
            )  # fmt: skip

    def text(self) -> str:
        return self._output.read_text()

    def wait_for(self, *words: str) -> str:
        wait_for(lambda: all(w in self.text() for w in words), otherwise=self.text)
        return self.text()

    def server_pid(self) -> int:
        return int(self.text().rpartition("pid=")[2].split()[0])


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.fixture
def reloading(tmp_path: Path) -> Iterator[Callable[..., Reloading]]:
    started: list[Reloading] = []

    def start(grace_s: float = 5.0) -> Reloading:
        started.append(Reloading(tmp_path, grace_s))
        started[-1].wait_for("serving one")
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait(5)
        with contextlib.suppress(ProcessLookupError, ValueError):
            os.kill(each.server_pid(), signal.SIGKILL)


def test_a_change_stops_the_server_and_starts_the_next(
    reloading: Callable[..., Reloading],
) -> None:
    running = reloading()
    first = running.server_pid()
    running.model.write_text("two")
    text = running.wait_for("serving two")
    assert "said model.py changed; starting again" in text
    assert "stopped one by SIGTERM" in text
    assert is_gone(first)
    assert "serving one first" in text  # what only the first start is told, such as --open
    assert "serving two first" not in text


def test_a_server_that_ends_is_waited_for(reloading: Callable[..., Reloading]) -> None:
    running = reloading()
    running.model.write_text("broken")
    running.wait_for("said the server ended with status 3; waiting for a change")
    running.model.write_text("mended")
    text = running.wait_for("serving mended")
    assert text.count("waiting for a change") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_server_and_ends_both(
    reloading: Callable[..., Reloading], number: signal.Signals
) -> None:
    running = reloading()
    pid = running.server_pid()
    running.process.send_signal(number)
    assert running.process.wait(DEADLINE_S) == 0
    assert f"stopped one by {number.name}" in running.text()
    assert is_gone(pid)


def test_a_second_signal_forces(reloading: Callable[..., Reloading]) -> None:
    running = reloading(grace_s=60.0)
    running.model.write_text("deaf")
    running.wait_for("serving deaf")
    pid = running.server_pid()
    running.process.send_signal(signal.SIGTERM)
    running.wait_for("said stopping; a second signal forces")
    running.process.send_signal(signal.SIGINT)
    running.process.wait(DEADLINE_S)
    assert running.process.returncode == 128 + signal.SIGTERM
    assert is_gone(pid)


def test_a_server_that_does_not_stop_is_killed(reloading: Callable[..., Reloading]) -> None:
    running = reloading(grace_s=0.3)
    running.model.write_text("deaf")
    running.wait_for("serving deaf")
    pid = running.server_pid()
    running.model.write_text("three")
    running.wait_for("serving three")
    assert is_gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_the_server_goes_with_a_killed_parent(reloading: Callable[..., Reloading]) -> None:
    running = reloading()
    pid = running.server_pid()
    running.process.kill()
    running.process.wait(5)
    wait_for(lambda: is_gone(pid), otherwise=running.text)
