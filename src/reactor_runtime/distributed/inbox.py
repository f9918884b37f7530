"""Inbox: what a group hears of its ranks, in an order that holds.

Answers wait in a mailbox for the caller of the ranks. Notices are passed on at once, by whichever
thread finds them, and always before an answer that came after them. What else there is, a death or
a wish to stop, is news: the one who waits for answers gets it behind what ranks had said before.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reactor_runtime.distributed.mailbox import Mailbox
from reactor_runtime.distributed.parcel import HEAD, Parcel, ParcelReader
from reactor_runtime.distributed.signs import Died, Garbled, Heard, Sign
from reactor_runtime.distributed.worker_process import WorkerProcess

_heard = partial(tuple.__new__, Heard)  # a named tuple's own way is a call of Python more


class Inbox:
    """One thread at a time listens; any may add news and hear notices.

    Args:
        processes: The ranks in order, while there are any.
        on_notice: Gets rank and payload of every notice.
    """

    def __init__(
        self, processes: Sequence[WorkerProcess], on_notice: Callable[[int, Any], None]
    ) -> None:
        self._processes = processes
        self._on_notice = on_notice
        self._mailbox = Mailbox()
        self._answers: dict[int, ParcelReader] = {}
        self._notices: dict[int, ParcelReader] = {}
        self._hearing = threading.Lock()
        self._heard: dict[int, int] = {}
        self._news: deque[Sign] = deque()

    @property
    def answers_file(self) -> int:
        """The open file that ranks answer into."""
        return self._mailbox.far.fileno()

    @property
    def has_news(self) -> bool:
        """Whether something was added and not listened to."""
        return bool(self._news)

    @property
    def death(self) -> Died | None:
        """The first death that was added and not listened to."""
        return next((sign for sign in self._news if isinstance(sign, Died)), None)

    def adopt(self, rank: int) -> None:
        """Expect answers and notices of *rank*."""
        self._answers[rank] = ParcelReader(shares=False)
        self._notices[rank] = ParcelReader(shares=False)
        self._heard[rank] = 0

    def listen(self, until: float | None) -> Sequence[Sign]:
        """Wait for the next signs; there may be none, at the latest *until*."""
        parcel = self._mailbox.wait(until)
        if parcel is not None and not self._news:
            return (self._read(parcel),)
        parcels = [] if parcel is None else [parcel]
        if has_news := bool(self._news):  # what ranks had said before comes first
            parcels += self._mailbox.take_rest()
        signs = [self._read(each) for each in parcels]
        while has_news and self._news:
            signs.append(self._news.popleft())
        return signs

    def hear(self, process: WorkerProcess) -> bool:
        """Pass on the notices that are there; return whether there may be more."""
        with self._hearing:
            parcels, is_open = process.channel.receive_ready()
            for parcel in parcels:
                self._pass_on(process.rank, parcel)
                self._heard[process.rank] += 1  # only now: an answer behind it must not overtake it
        return is_open

    def add(self, sign: Sign) -> None:
        """Add news, and make who listens look up."""
        self._news.append(sign)
        self._mailbox.poke()

    def close(self) -> None:
        """Let go of everything."""
        for reader in (*self._answers.values(), *self._notices.values()):
            reader.close()
        self._mailbox.close()

    def _read(self, parcel: Parcel) -> Sign:
        rank, _, _, said = HEAD.unpack_from(parcel.data)
        if self._heard[rank] < said:
            self.hear(self._processes[rank])
        try:
            message, _ = self._answers[rank].unpack(parcel)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - author's classes are made
            return Garbled(rank, error)
        return _heard((rank, message))

    def _pass_on(self, rank: int, parcel: Parcel) -> None:
        try:
            message, _ = self._notices[rank].unpack(parcel)
            self._on_notice(rank, message.payload)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - author's classes are made
            self.add(Garbled(rank, error))
