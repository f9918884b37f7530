"""``reactor serve --reload``: a parent that starts the server again when a file changes.

The server is a process of its own, so every start begins clean. One that ends by itself, because
of a mistake in the model, is reported and started again at the next change.
"""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from reactor_runtime.cli.folder_watch import FolderWatch
from reactor_runtime.cli.setting_flags import arguments_of, texts_of
from reactor_runtime.clock import FOR_EVER_S
from reactor_runtime.errors import ConfigurationError, ManifestError
from reactor_runtime.settings import resolve_settings
from reactor_runtime.tether import die_with_parent

LOOK_EVERY_S = 0.2
DEFAULT_GRACE_S = 10.0
# -P: the current folder, an author's, must not come before the standard library.
_COMMAND = ("-P", "-m", "reactor_runtime.cli.main")


def serve_with_reload(target: str, flags: Mapping[str, Any], *, open_browser: bool) -> int:
    """Serve *target* again and again until a signal comes; return the last server's status.

    Raises:
        ManifestError: *target* is neither there nor ``module:Class``: no change can cure that.
    """
    watch = FolderWatch(watched_folder(target))
    arguments = [target, *arguments_of(flags)]
    command = [sys.executable, *_COMMAND, "serve", *arguments]
    loop = ReloadLoop(command, watch, _say, stop_grace_s=_stop_grace_s(target, flags))
    return loop.run([*command, "--open"] if open_browser else command)


def _stop_grace_s(target: str, flags: Mapping[str, Any]) -> float:
    """Return the server's own grace and a little more."""
    try:
        grace_s = resolve_settings(target, texts_of(flags)).settings.stop_grace_s
    except ConfigurationError:  # the server says so, and a change may cure it
        grace_s = DEFAULT_GRACE_S
    return grace_s + 2.0 if grace_s > 0 else FOR_EVER_S


def watched_folder(target: str) -> Path:
    """Return the folder whose files make up *target*."""
    path = Path(target)
    if path.is_dir():
        return path.absolute()
    if path.is_file():
        return path.parent.absolute()
    if ":" in target:
        return Path.cwd()
    raise ManifestError(target, None, "no such file or folder", "what is to be watched")


class ReloadLoop:
    """Runs one server at a time, and the next one after a change.

    Args:
        command: Starts a server.
        watch: Tells what changed.
        say: Tells a person.
        stop_grace_s: Seconds a server has to stop before it is killed.
    """

    def __init__(
        self,
        command: Sequence[str],
        watch: FolderWatch,
        say: Callable[[str], None],
        *,
        stop_grace_s: float,
    ) -> None:
        self._command = list(command)
        self._watch = watch
        self._say = say
        self._stop_grace_s = stop_grace_s
        self._signals: list[int] = []
        self._server: subprocess.Popen[bytes] | None = None

    def run(self, first_command: Sequence[str]) -> int:
        """Serve until a signal comes; a second signal kills the server at once."""
        with _signals_in(self._signals):
            self._start(first_command)
            while self._wait_for_change():
                self._stop(signal.SIGTERM)
                if not self._signals:
                    self._start(self._command)
            self._say("stopping; a second signal forces")
            status = self._stop(self._signals[0])
            return 128 + self._signals[0] if len(self._signals) > 1 else max(0, status)

    def _start(self, command: Sequence[str]) -> None:
        # A process group of its own: Ctrl-C reaches it once, through the parent.
        tether = partial(die_with_parent, signal.SIGTERM)
        self._server = subprocess.Popen(command, process_group=0, preexec_fn=tether)

    def _wait_for_change(self) -> bool:
        """Return ``True`` at the next change, ``False`` when a signal has come."""
        reported = False
        while not self._signals:
            status = self._server.poll() if self._server is not None else None
            if status is not None and not reported:
                reported = True
                self._say(f"the server ended with status {status}; waiting for a change")
            changes = self._watch.changes()
            if changes:
                more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
                self._say(f"{changes[0].name}{more} changed; starting again")
                return True
            time.sleep(LOOK_EVERY_S)
        return False

    def _stop(self, number: int) -> int:
        """Stop the server and return its status: ask, wait, kill."""
        server = self._server
        if server is None:
            return 0
        if server.poll() is None:
            server.send_signal(number)
        deadline = time.monotonic() + self._stop_grace_s
        while server.poll() is None:
            if time.monotonic() > deadline or len(self._signals) > 1:
                server.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(LOOK_EVERY_S)
        return int(server.returncode)


@contextlib.contextmanager
def _signals_in(heard: list[int]) -> Iterator[None]:
    """Write down SIGINT and SIGTERM instead of dying of them."""

    def on_signal(number: int, _frame: FrameType | None) -> None:
        heard.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, on_signal) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def _say(text: str) -> None:
    print(f"reactor: {text}", file=sys.stderr, flush=True)
