"""SentPictures: what one viewer was sent lately, for what it asks again."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from reactor_runtime.webrtc.broadcast import PacketizedFrame

_PICTURES = 64
_REPEATS_PER_S = 400
_LOOKS_PER_S = 2000  # each looks through all pictures, while the event loop waits
_LONGEST_TRIP_S = 1.0
_NEVER = float("-inf")


class SentPacket(NamedTuple):
    """One packet as it was sent: its payload is shared with all viewers."""

    payload: bytes
    timestamp: int
    is_last: bool


class SentPictures:
    """The last pictures and the number of their first packet. Payloads are not copied."""

    def __init__(self) -> None:
        self._sent: deque[tuple[int, PacketizedFrame]] = deque(maxlen=_PICTURES)
        self._window, self._repeats, self._looks = 0.0, 0, 0
        self._repeated_at: dict[int, float] = {}

    def add(self, first_sequence: int, picture: PacketizedFrame) -> None:
        """Remember *picture*, whose first packet had number *first_sequence*."""
        self._sent.append((first_sequence, picture))

    @property
    def last(self) -> tuple[int, PacketizedFrame] | None:
        """The last picture and the number of its first packet."""
        return self._sent[-1] if self._sent else None

    def breaks_off_at(self, sequence: int) -> bool:
        """Return whether a viewer that lacks packet *sequence* can only go on at a new key frame.

        It is forgotten, and so is every key frame after it.
        """
        if not self._sent or any(picture.is_key for _, picture in self._sent):
            return False
        return 0 < (self._sent[0][0] - sequence & 0xFFFF) < 0x8000

    def worth_a_look(self, sequences: Sequence[int], now_s: float) -> Sequence[int]:
        """Return those of *sequences*, the first ones, that a second has room to look for."""
        self._begin_window(now_s)
        looked_for = sequences[: _LOOKS_PER_S - self._looks]
        self._looks += len(looked_for)
        return looked_for

    def find(self, sequence: int, now_s: float, round_trip_s: float = 0.0) -> SentPacket | None:
        """Return the packet with number *sequence*.

        ``None`` when it is too old, when it was returned less than a round trip ago (it is on its
        way, and its receiver asks every 100 ms), or when more was asked again than a second allows.
        """
        self._begin_window(now_s)
        if self._repeats >= _REPEATS_PER_S:
            return None
        if now_s - self._repeated_at.get(sequence, _NEVER) < min(round_trip_s, _LONGEST_TRIP_S):
            return None
        for first, picture in reversed(self._sent):
            index = sequence - first & 0xFFFF
            if index < len(picture.payloads):
                self._repeats += 1
                self._repeated_at[sequence] = now_s
                is_last = index == len(picture.payloads) - 1
                return SentPacket(picture.payloads[index], picture.timestamp, is_last)
        return None

    def _begin_window(self, now_s: float) -> None:
        if now_s - self._window > 1.0:
            self._window, self._repeats, self._looks = now_s, 0, 0
            recent = self._repeated_at.items()
            self._repeated_at = {of: at for of, at in recent if now_s - at < _LONGEST_TRIP_S}
