"""ReportSpool: reports on disk, in order, until the control plane has taken them.

Those that a full disk does not take are kept in memory: a job must not wait for ever for its end.
"""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError
from reactor_runtime.launcher.agent_messages import Report
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.log import get_logger

_LOG = get_logger("reactor_runtime.launcher")
_RETRY_S = 0.5
_CONFLICT = 409


class ReportSpool:
    """A folder of numbered files and the thread that sends them."""

    def __init__(
        self,
        folder: Path,
        client: ControlClient,
        on_refused: Callable[[Report, str], None],
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._client, self._on_refused = folder, client, on_refused
        self._last = max((int(path.stem) for path in folder.glob("*.json")), default=0)
        self._unwritten: dict[Path, Report] = {}
        self._lock, self._sending = threading.Lock(), threading.Lock()
        self._more = threading.Event()
        self._is_open = True

    def put(self, report: Report) -> None:
        """Keep *report* until it has been taken; it outlives this process, if the disk has room."""
        with self._lock:
            self._last += 1
            path = self._folder / f"{self._last:012d}.json"
            part = path.with_suffix(".part")
            try:
                part.write_text(report.model_dump_json(), encoding="utf-8")
                os.replace(part, path)
            except OSError as error:
                _LOG.error("report_not_written", attempt=report.attempt_id, reason=str(error))
                self._unwritten[path] = report
                with suppress(OSError):
                    part.unlink()
        self._more.set()

    def run(self) -> None:
        """Send until ``close``. The body of a thread."""
        while self._is_open:
            self._more.clear()
            if not self.drain():
                self._more.wait(_RETRY_S)
            elif not self._waiting():
                self._more.wait()

    def drain(self) -> bool:
        """Send what waits; return whether all was read and the control plane was there."""
        with self._sending:  # one thread at a time, so that each is sent once and in order
            return self._send_all()

    def _send_all(self) -> bool:
        for path in self._waiting():
            try:
                report = self._unwritten.get(path) or _read(path)
            except OSError as error:  # such as too many open files: it can be read later
                _LOG.warning("report_not_read", file=str(path), reason=str(error))
                return False
            if report is None:
                self._remove(path)
                continue
            try:
                self._client.report(report)
            except ControlPlaneAbsentError:
                return False
            except ControlPlaneError as error:
                if error.status >= 500:
                    return False
                _LOG.error("report_refused", attempt=report.attempt_id, reason=error.reason)
                if error.status == _CONFLICT:
                    self._on_refused(report, error.reason)
            self._remove(path)
        return True

    def close(self) -> None:
        """End ``run``."""
        self._is_open = False
        self._more.set()

    def _waiting(self) -> list[Path]:
        with self._lock:
            return sorted({*self._folder.glob("*.json"), *self._unwritten})

    def _remove(self, path: Path) -> None:
        with self._lock:
            self._unwritten.pop(path, None)
        path.unlink(missing_ok=True)


def _read(path: Path) -> Report | None:
    try:
        return Report.model_validate_json(path.read_bytes())
    except ValidationError as error:  # another version's; it must not keep back those behind it
        _LOG.error("report_unreadable", file=str(path), reason=str(error))
        return None
