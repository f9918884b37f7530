"""Crew: the processes of one group, and the one thread they were started from.

That thread lives as long as the ranks do, because the kernel ends them with it. It empties their
pipes into the log, passes on what they say beside their answers, and sees them end.
"""

import math
import os
import selectors
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Final

from reactor_runtime.distributed.inbox import Inbox
from reactor_runtime.distributed.parcel import Parcel
from reactor_runtime.distributed.rank_output import RankOutput
from reactor_runtime.distributed.signs import Died, Woken
from reactor_runtime.distributed.worker_process import GuardProcess, WorkerProcess

_EXIT_CODE_S: Final = 2.0  # seconds to learn an exit status after a channel has closed
_SEND_S: Final = 10.0  # seconds a rank has to take a message out of its channel

Spawn = Callable[[int], WorkerProcess]  # starts a rank that answers into the given open file


class Crew:
    """Starts ranks, speaks to them, and ends with them.

    Args:
        on_news: Called on the crew's thread when the inbox has news.
        on_notice: Gets what a rank says beside its answers: rank and payload.
        mark: What the ranks bear in their environment.

    Attributes:
        processes: The ranks, in order.
        inbox: What they say.
    """

    def __init__(
        self, on_news: Callable[[], None], on_notice: Callable[[int, Any], None], mark: str
    ) -> None:
        self.processes: list[WorkerProcess] = []
        self._on_news = on_news
        self._mark = mark
        self._living: dict[int, float] = {}  # until when an exit is awaited; inf if none is due
        self._guard: GuardProcess | None = None
        with ExitStack() as unless_made:  # there may be no more files to open
            self.inbox = Inbox(self.processes, on_notice)
            unless_made.callback(self.inbox.close)
            self._selector = selectors.DefaultSelector()  # its data is what to do
            unless_made.callback(self._selector.close)
            self._bell = _Bell()
            unless_made.callback(self._bell.close)
            self._watch(self._bell, self._hear_bell)
            unless_made.pop_all()
        self._is_over = False
        self._thread: threading.Thread | None = None

    def start(self, spawns: Sequence[Spawn]) -> None:
        """Start the ranks; returns when all processes exist.

        Raises:
            OSError: A process could not be started.
            ValueError: An environment has a zero character in it.
        """
        begun = threading.Event()
        problems: list[Exception] = []
        self._thread = threading.Thread(
            target=self._live, args=(spawns, begun, problems), name="reactor-ranks", daemon=True
        )
        self._thread.start()
        begun.wait()
        if problems:
            raise problems[0]

    def send(self, parcel: Parcel, rank: int | None = None) -> None:
        """Send to one rank, or to every rank; that one of them is gone will be heard."""
        for process in self.processes if rank is None else [self.processes[rank]]:
            try:
                process.channel.send(parcel, _SEND_S)
            except OSError:
                continue

    def wake(self) -> None:
        """Make whoever waits for answers stop."""
        self.inbox.add(Woken())

    def look_at_news(self) -> None:
        """Have the crew's thread call *on_news*."""
        self._bell.ring()

    def close(self) -> None:
        """End the thread and let go of every file; the processes must have ended."""
        self._is_over = True
        self._bell.ring()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        if self._guard is not None:
            self._guard.call_off()
            self._guard = None
        for process in self.processes:
            for output in process.outputs:
                output.drain_rest()
            process.close()
        self.inbox.close()
        self._selector.close()
        self._bell.close()

    def _live(
        self, spawns: Sequence[Spawn], begun: threading.Event, problems: list[Exception]
    ) -> None:
        try:
            for spawn in spawns:
                self._adopt(spawn(self.inbox.answers_file))
            self._guard = GuardProcess(self._mark)
        except Exception as error:  # noqa: BLE001 - raised where the thread was started
            problems.append(error)
        finally:
            begun.set()
        while not self._is_over:
            for key, _ in self._selector.select(self._patience_s()):
                if not self._is_over:
                    key.data()
            self._lose_overdue()

    def _adopt(self, process: WorkerProcess) -> None:
        self.processes.append(process)
        self._living[process.rank] = math.inf
        self.inbox.adopt(process.rank)
        self._watch(process.channel, partial(self._hear, process))
        if process.exit_file >= 0:
            self._watch(process.exit_file, partial(self._lose, process))
        for output in process.outputs:
            self._watch(output, partial(self._drain, output))

    def _watch(self, file: Any, act: Callable[[], None]) -> None:
        self._selector.register(file, selectors.EVENT_READ, act)

    def _hear_bell(self) -> None:
        self._bell.clear()
        self._on_news()

    def _drain(self, output: RankOutput) -> None:
        if not output.drain():
            self._selector.unregister(output)

    def _hear(self, process: WorkerProcess) -> None:
        if self._living.get(process.rank) != math.inf or self.inbox.hear(process):
            return
        self._selector.unregister(process.channel)  # it will not speak again
        self._living[process.rank] = time.monotonic() + _EXIT_CODE_S
        if process.exit_file < 0:
            self._lose(process)

    def _lose(self, process: WorkerProcess) -> None:
        """Tell that a rank has ended, or never will; and how, if it has."""
        if process.rank not in self._living:
            return
        until = self._living.pop(process.rank)
        if until == math.inf:
            self.inbox.hear(process)
            self._selector.unregister(process.channel)
        if process.exit_file >= 0:
            self._selector.unregister(process.exit_file)
        # Only where an exit cannot be watched is it waited for; this thread empties the pipes.
        exit_code = process.wait(0.0 if process.exit_file >= 0 else _EXIT_CODE_S)
        process.outputs[1].drain_rest()
        self.inbox.add(Died(process.rank, exit_code, process.last_words()))
        self._on_news()

    def _patience_s(self) -> float | None:
        until = min(self._living.values(), default=math.inf)
        return None if until == math.inf else max(0.0, until - time.monotonic())

    def _lose_overdue(self) -> None:
        """Stop waiting for the exit of ranks that closed their channel and live on."""
        now = time.monotonic()
        for rank in [rank for rank, until in self._living.items() if until <= now]:
            self._lose(self.processes[rank])


class _Bell:
    """Something to wait on that any thread can ring."""

    def __init__(self) -> None:
        self._near, self._far = os.pipe()
        os.set_blocking(self._near, False)

    def fileno(self) -> int:
        return self._near

    def ring(self) -> None:
        os.write(self._far, b"!")

    def clear(self) -> None:
        os.read(self._near, 64)

    def close(self) -> None:
        os.close(self._near)
        os.close(self._far)
