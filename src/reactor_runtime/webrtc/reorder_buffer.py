"""ReorderBuffer: the packets of one inbound stream put back in order, and what is missing."""

from collections.abc import Iterator

from reactor_runtime.webrtc.rtp_packet import RtpPacket, Unwrapper

_MAX_MISSING = 200
_ASK_AGAIN_S = 0.06


class ReorderBuffer:
    """Releases packets in order; waits for a missing one, then goes on without it.

    Args:
        patience_s: How long a missing packet is waited for.
        capacity: Packets held meanwhile.
    """

    def __init__(self, *, patience_s: float, capacity: int) -> None:
        self._patience_s, self._capacity = patience_s, capacity
        self._unwrapper = Unwrapper(16)
        self._held: dict[int, RtpPacket] = {}
        self._missing: dict[int, float] = {}  # number to when it was noticed
        self._next: int | None = None
        self._highest = -1
        self._asked_at = 0.0

    def add(self, packet: RtpPacket, now_s: float) -> Iterator[tuple[bool, RtpPacket]]:
        """Take *packet*; yield what is in order now, and whether packets before it are lost."""
        number = self._unwrapper.unwrap(packet.sequence)
        if self._next is None:
            self._next, self._highest = number, number - 1
        if abs(number - self._highest) > 4 * self._capacity:  # the sender began anew
            self._restart(number)
        if number < self._next or number in self._held:
            return
        for lost in range(self._highest + 1, number):
            self._missing[lost] = now_s
        self._highest = max(self._highest, number)
        self._missing.pop(number, None)
        self._held[number] = packet
        yield from self._release(now_s)

    def _restart(self, number: int) -> None:
        self._held.clear()
        self._missing.clear()
        self._next, self._highest = number, number - 1

    def _release(self, now_s: float) -> Iterator[tuple[bool, RtpPacket]]:
        assert self._next is not None
        while self._held:
            is_gap = False
            if self._next not in self._held:
                waited = now_s - self._missing.get(self._next, now_s)
                if waited < self._patience_s and len(self._held) < self._capacity:
                    return
                is_gap = True
                following = min(self._held)
                for lost in range(self._next, following):
                    self._missing.pop(lost, None)
                self._next = following
            packet = self._held.pop(self._next)
            self._next += 1
            yield is_gap, packet

    def to_ask(self, now_s: float) -> list[int] | None:
        """Return the 16-bit numbers to ask for again now, perhaps none.

        ``None``: so many are missing that only a new picture helps.
        """
        if not self._missing:
            return []
        if len(self._missing) > _MAX_MISSING:
            self._missing.clear()
            return None
        is_new = max(self._missing.values()) > self._asked_at
        if not is_new and now_s - self._asked_at < _ASK_AGAIN_S:
            return []
        self._asked_at = now_s
        return [number & 0xFFFF for number in self._missing]
