"""Mailbox: from the host's threads to the event loop, in order, one wake-up for many reports."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from reactor_runtime.host.host_outlet import CommandReply, HostFailure, OutboundMessage
from reactor_runtime.loop_calls import call_soon

_BATCH = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class HostOpened:
    """``session_started`` has run."""

    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostClosed:
    """``session_ended`` has run and the host is ready for the next session."""

    session_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsDone:
    """The session has had all the steps it was to have."""

    session_id: str


HostReport = OutboundMessage | CommandReply | HostFailure | HostOpened | HostClosed | StepsDone


class HostListener(Protocol):
    """Who hears of a host, on the event loop."""

    def hear(self, report: HostReport) -> None:
        """Take one report, in the order in which they were made. Never raises."""
        ...


class Mailbox:
    """Keeps reports until the event loop has heard them. ``post`` may be called from any thread."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._listener: HostListener | None = None
        self._reports: deque[HostReport] = deque()
        self._wake_is_due = False

    def __len__(self) -> int:
        return len(self._reports)

    def bind(self, listener: HostListener, loop: asyncio.AbstractEventLoop) -> None:
        """Deliver to *listener* on *loop* from now on, what has been posted before as well."""
        self._listener, self._loop = listener, loop
        if self._reports:
            self._wake()

    def post(self, report: HostReport) -> None:
        """Have *report* heard after all that were posted before it."""
        # Append first, then look at the flag; the loop clears the flag before it pops. Whatever
        # the order of the two threads, a report is popped or a wake-up is due.
        self._reports.append(report)
        self._wake()

    def _wake(self) -> None:
        if not self._wake_is_due and self._loop is not None:
            self._wake_is_due = True
            call_soon(self._loop, self._deliver)

    def _deliver(self) -> None:
        self._wake_is_due = False
        for _ in range(_BATCH):  # then others on the loop have their turn
            if not self._reports or self._listener is None:
                return
            self._listener.hear(self._reports.popleft())
        self._wake_is_due = True
        asyncio.get_running_loop().call_soon(self._deliver)
