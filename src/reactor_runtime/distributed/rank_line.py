"""RankLine: a rank's end of what joins it to its group: orders in, answers and notices out."""

import os
import threading
from typing import Final

from reactor_runtime.distributed.channel import Channel
from reactor_runtime.distributed.messages import FromRank, Notice
from reactor_runtime.distributed.parcel import Parcel, ParcelWriter

PARENT_GONE: Final = 70  # exit status of a rank whose parent closed the channel


class RankLine:
    """Answers go to the mailbox all ranks share, notices back along the rank's own channel.

    Every answer says how many notices came before it: who reads both can keep their order.

    Args:
        rank: Whose.
        channel: The rank's own channel: orders come here.
        answers: The far end of the mailbox.
    """

    def __init__(self, rank: int, channel: Channel, answers: Channel) -> None:
        self._channel, self._answers = channel, answers
        self._writer = ParcelWriter(rank, in_c_order=True)
        self._notices = ParcelWriter(rank)
        self._saying = threading.Lock()
        self._said = 0

    def fileno(self) -> int:
        """Return the channel's number: readable when ``receive`` will not wait."""
        return self._channel.fileno()

    def receive(self) -> Parcel:
        """Wait for the group; end the process when it is gone."""
        parcel = self._channel.receive()
        if parcel is None:
            os._exit(PARENT_GONE)
        return parcel

    def begin(self) -> None:
        """Note that the group has read all answers."""
        self._writer.recycle()

    def answer(self, message: FromRank) -> None:
        """Answer an order; from the thread that carries it out."""
        self._answers.send(self._writer.pack(message, said=self._said))

    def say(self, payload: object) -> None:
        """Say something beside answers, from any thread."""
        with self._saying:
            self._channel.send(self._notices.pack(Notice(payload)))
            self._notices.forget()
            self._said += 1
