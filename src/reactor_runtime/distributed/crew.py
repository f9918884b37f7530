"""Crew: the processes of one group, and the one thread they were started from.

That thread lives as long as the ranks do, because the kernel ends them with it. It also empties
their pipes into the log and, between calls, watches over their channels and exits.
"""

import os
import selectors
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from reactor_runtime.distributed.parcel import Parcel, ParcelReader
from reactor_runtime.distributed.rank_output import RankOutput
from reactor_runtime.distributed.signs import Died, Garbled, Heard, Sign, Woken
from reactor_runtime.distributed.worker_process import GuardProcess, WorkerProcess

_EXIT_CODE_S: Final = 2.0  # seconds to learn an exit status after a channel has closed
_SEND_S: Final = 10.0  # seconds a rank has to take a message out of its channel
_LAST_PARCELS: Final = 1000  # what a dead rank's channel is read for, at most

Spawn = Callable[[], WorkerProcess]


class Crew:
    """Starts ranks, listens to them, and ends with them.

    One thread at a time listens. Between ``attend`` and ``leave`` it is their caller; otherwise
    *on_sign* is called on the crew's own thread whenever there is something to hear.

    Args:
        on_sign: Called on the crew's thread between calls; it is to ``listen``.
        mark: What the ranks bear in their environment.

    Attributes:
        processes: The ranks, in order.
    """

    def __init__(self, on_sign: Callable[[], None], mark: str) -> None:
        self.processes: list[WorkerProcess] = []
        self._on_sign = on_sign
        self._mark = mark
        self._readers: dict[int, ParcelReader] = {}
        self._guard: GuardProcess | None = None
        self._watched = selectors.DefaultSelector()  # channels, exits, and a bell for the listener
        self._all = selectors.DefaultSelector()  # pipes, a bell for the thread, and _watched
        self._bells = {self._watched: _Bell(), self._all: _Bell()}
        self._thread: threading.Thread | None = None

    def start(self, spawns: Sequence[Spawn]) -> None:
        """Start the ranks; returns when all processes exist.

        Raises:
            OSError: A process could not be started.
        """
        begun = threading.Event()
        problems: list[OSError] = []
        self._thread = threading.Thread(
            target=self._live, args=(spawns, begun, problems), name="reactor-ranks", daemon=True
        )
        self._thread.start()
        begun.wait()
        if problems:
            raise problems[0]

    def attend(self) -> None:
        """Listen from now on instead of the crew's thread."""
        self._all.unregister(self._watched)

    def leave(self) -> None:
        """Leave the listening to the crew's thread again."""
        self._all.register(self._watched, selectors.EVENT_READ)

    def listen(self, within_s: float | None) -> list[Sign]:
        """Wait for the next signs; none when *within_s* seconds have passed without any."""
        signs: list[Sign] = []
        for key, _ in self._watched.select(within_s):
            if key.data is None:
                self._bells[self._watched].clear()
                signs.append(Woken())
            elif key.data.rank in self._readers:
                signs += self._hear(key.data, has_ended=key.fd == key.data.exit_file)
        return signs

    def send(self, parcel: Parcel, rank: int | None = None) -> None:
        """Send to one rank, or to every rank; that one of them is gone will be heard."""
        for process in self.processes if rank is None else [self.processes[rank]]:
            with suppress(OSError):
                process.channel.send(parcel, _SEND_S)

    def wake(self) -> None:
        """Make a listener look up."""
        self._bells[self._watched].ring()

    def close(self) -> None:
        """End the thread and let go of every file; the processes must have ended."""
        self._bells[self._all].ring()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        if self._guard is not None:
            self._guard.call_off()
            self._guard = None
        for process in self.processes:
            for output in process.outputs:
                output.drain_rest()
            process.close()
        for reader in self._readers.values():
            reader.close()
        for selector, bell in self._bells.items():
            selector.close()
            bell.close()
        self._bells.clear()

    def _live(
        self, spawns: Sequence[Spawn], begun: threading.Event, problems: list[OSError]
    ) -> None:
        bell = self._bells[self._all]
        try:
            self._watched.register(self._bells[self._watched], selectors.EVENT_READ)
            self._all.register(bell, selectors.EVENT_READ)
            for spawn in spawns:
                self._adopt(spawn())
            self._guard = GuardProcess(self._mark)
        except OSError as error:
            problems.append(error)
        finally:
            begun.set()
        while not bell.has_rung:
            for key, _ in self._all.select():
                if bell.has_rung:
                    return
                if isinstance(key.fileobj, RankOutput):
                    if not key.fileobj.drain():
                        self._all.unregister(key.fileobj)
                else:
                    self._on_sign()

    def _adopt(self, process: WorkerProcess) -> None:
        self.processes.append(process)
        self._readers[process.rank] = ParcelReader(shares=False)
        self._watched.register(process.channel, selectors.EVENT_READ, process)
        if process.exit_file >= 0:
            self._watched.register(process.exit_file, selectors.EVENT_READ, process)
        for output in process.outputs:
            self._all.register(output, selectors.EVENT_READ)

    def _hear(self, process: WorkerProcess, has_ended: bool) -> list[Sign]:
        signs: list[Sign] = []
        is_open = True
        for _ in range(_LAST_PARCELS if has_ended else 1):
            parcels, is_open = process.channel.receive_ready()
            signs += [self._read(process.rank, parcel) for parcel in parcels]
            if not parcels:
                break
        if has_ended or not is_open:
            signs.append(self._lose(process))
        return signs

    def _read(self, rank: int, parcel: Parcel) -> Sign:
        try:
            message: Any
            message, _ = self._readers[rank].unpack(parcel)
        except Exception as error:  # noqa: BLE001 - an author's class may raise when it is made
            return Garbled(rank, error)
        return Heard(rank, message)

    def _lose(self, process: WorkerProcess) -> Died:
        """Stop listening to a rank that will not speak again; learn how it ended."""
        self._readers.pop(process.rank).close()
        self._watched.unregister(process.channel)
        if process.exit_file >= 0:
            self._watched.unregister(process.exit_file)
        exit_code = process.wait(_EXIT_CODE_S)
        process.outputs[1].drain_rest()
        return Died(process.rank, exit_code, process.last_words())


class _Bell:
    """Something to wait on that any thread can ring."""

    def __init__(self) -> None:
        self._near, self._far = os.pipe()
        self.has_rung = False

    def fileno(self) -> int:
        return self._near

    def ring(self) -> None:
        if not self.has_rung:
            self.has_rung = True
            os.write(self._far, b"!")

    def clear(self) -> None:
        os.read(self._near, 1)
        self.has_rung = False

    def close(self) -> None:
        os.close(self._near)
        os.close(self._far)
