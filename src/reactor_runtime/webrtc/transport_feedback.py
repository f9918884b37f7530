"""TransportFeedback: tells a publisher when each of its packets arrived.

From that the publisher itself finds the bitrate its line can carry (transport-wide congestion
control, draft-holmer-rmcat-transport-wide-cc-extensions-01). One message:

    RTCP head | our SSRC | media SSRC | base number 16 | count 16 | reference time 24 | message 8
    | chunks of 16 bits: what became of each number | arrival times, as steps of 250 us

A chunk is either a run (0, status 2, length 13) or seven single statuses (1, 1, 7 x 2).
"""

import secrets
import struct
from collections.abc import Iterator, Sequence

from reactor_runtime.clock import Clock
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.rtcp_packets import write_arrivals
from reactor_runtime.webrtc.rtp_packet import RtpPacket, Unwrapper

_TICKS_PER_S = 4000
_TICKS_PER_REFERENCE = 256  # 64 ms
_MISSING, _SMALL, _LARGE = 0, 1, 2
_INTERVAL_S = 0.06
_MAX_PENDING = 100
_MAX_SPAN = 1000  # numbers in one message


class TransportFeedback:
    """Collects arrivals; ``note`` returns a message about every 60 ms."""

    def __init__(self, ssrc: int, clock: Clock) -> None:
        self._ssrc, self._clock = ssrc, clock
        self._numbers = Unwrapper(16)
        self._pending: dict[int, int] = {}  # number to arrival in ticks
        self._next: int | None = None  # the first number nothing was said about
        self._sent_at = 0.0
        self._messages = 0

    def note(self, number: int, media_ssrc: int) -> bytes | None:
        """Note the packet with this 16-bit transport-wide number; return a message that is due."""
        now = self._clock.now()
        self._pending.setdefault(self._numbers.unwrap(number), int(now * _TICKS_PER_S))
        if now - self._sent_at < _INTERVAL_S and len(self._pending) < _MAX_PENDING:
            return None
        self._sent_at = now
        return self._write(media_ssrc)

    def _write(self, media_ssrc: int) -> bytes:
        numbers = sorted(self._pending)
        base = numbers[0] if self._next is None else min(self._next, numbers[0])
        if numbers[0] - base > _MAX_SPAN:
            base = numbers[0]
        reference = self._pending[numbers[0]] // _TICKS_PER_REFERENCE
        statuses: list[int] = []
        steps: list[bytes] = []
        before = reference * _TICKS_PER_REFERENCE
        for number in numbers:
            step = self._pending[number] - before
            if not -0x8000 <= step <= 0x7FFF or number - base > _MAX_SPAN:
                break  # it goes into the next message
            statuses += [_MISSING] * (number - base - len(statuses))
            statuses.append(_SMALL if 0 <= step <= 0xFF else _LARGE)
            steps.append(struct.pack("!B" if statuses[-1] == _SMALL else "!h", step))
            before = self._pending.pop(number)
            self._next = max(self._next or 0, number + 1)
        body = struct.pack("!IIHH", self._ssrc, media_ssrc, base & 0xFFFF, len(statuses))
        body += ((reference & 0xFFFFFF) << 8 | self._messages & 0xFF).to_bytes(4, "big")
        body += b"".join(_chunks(statuses)) + b"".join(steps)
        body += b"\0" * (-len(body) % 4)
        self._messages += 1
        return write_arrivals(body)


class ArrivalReports:
    """Sends the feedback for everything one peer publishes, in whichever section."""

    def __init__(self, port: MediaPort, clock: Clock) -> None:
        self._port = port
        self._feedback = TransportFeedback(secrets.randbits(32) | 1, clock)
        self._number_id: int | None = None

    def expect(self, number_id: int | None) -> None:
        """Read transport-wide numbers from the header extension with this id."""
        if number_id is not None:
            self._number_id = number_id

    def note(self, packet: RtpPacket) -> None:
        """Note one packet of the peer; send what is due."""
        number = packet.extensions.get(self._number_id) if self._number_id is not None else None
        if number is not None and len(number) == 2:
            message = self._feedback.note(int.from_bytes(number, "big"), packet.ssrc)
            if message is not None:
                self._port.send_rtcp(message)


def _chunks(statuses: Sequence[int]) -> Iterator[bytes]:
    at = 0
    while at < len(statuses):
        run = 1
        while at + run < len(statuses) and statuses[at + run] == statuses[at] and run < 0x1FFF:
            run += 1
        if run > 7 or at + run == len(statuses):
            yield struct.pack("!H", statuses[at] << 13 | run)
            at += run
            continue
        chunk = 0b11 << 14
        for place, status in enumerate(statuses[at : at + 7]):
            chunk |= status << 2 * (6 - place)
        yield struct.pack("!H", chunk)
        at += 7
