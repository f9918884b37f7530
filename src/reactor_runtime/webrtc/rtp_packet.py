"""RTP packets as they arrive (RFC 3550, header extensions of RFC 8285). Pure functions.

 0                   1                   2                   3
 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
|V=2|P|X|  CC   |M|     PT      |       sequence number         |
|                           timestamp                           |
|                             SSRC                              |
|          CSRCs, then (X) profile, length, extensions          |
"""

import struct
from typing import NamedTuple

_HEADER = struct.Struct("!BBHII")
_ONE_BYTE_PROFILE = 0xBEDE
_TWO_BYTE_PROFILES = range(0x1000, 0x1010)


class RtpPacket(NamedTuple):
    """One RTP packet.

    Attributes:
        payload_type: As negotiated for the section.
        marker: Set on the last packet of a picture.
        sequence: 16 bits.
        timestamp: 32 bits, in units of the codec's clock.
        ssrc: The stream it belongs to.
        extensions: Extension id to value.
        payload: Without padding.
    """

    payload_type: int
    marker: bool
    sequence: int
    timestamp: int
    ssrc: int
    extensions: dict[int, bytes]
    payload: bytes


def parse_rtp(packet: bytes) -> RtpPacket:
    """Return *packet* taken apart.

    Raises:
        ValueError: It is no RTP packet, or is cut short.
    """
    if len(packet) < _HEADER.size:
        raise ValueError("shorter than an RTP header")
    first, second, sequence, timestamp, ssrc = _HEADER.unpack_from(packet)
    if first >> 6 != 2:
        raise ValueError("not RTP version 2")
    start = _HEADER.size + 4 * (first & 0x0F)
    extensions: dict[int, bytes] = {}
    if first & 0x10:
        extensions, start = _extensions(packet, start)
    end = len(packet)
    if first & 0x20:
        end -= packet[-1]
    if start > end:
        raise ValueError("RTP packet is cut short")
    return RtpPacket(
        second & 0x7F, bool(second & 0x80), sequence, timestamp, ssrc, extensions, packet[start:end]
    )


def _extensions(packet: bytes, start: int) -> tuple[dict[int, bytes], int]:
    if len(packet) < start + 4:
        raise ValueError("RTP extension header is cut short")
    profile, words = struct.unpack_from("!HH", packet, start)
    start += 4
    end = start + 4 * words
    if len(packet) < end:
        raise ValueError("RTP extensions are cut short")
    if profile == _ONE_BYTE_PROFILE:
        return _one_byte(packet[start:end]), end
    if profile in _TWO_BYTE_PROFILES:
        return _two_byte(packet[start:end]), end
    return {}, end


def _one_byte(block: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at < len(block):
        head = block[at]
        at += 1
        if head >> 4 == 0:  # padding
            continue
        if head >> 4 == 15:
            break
        size = (head & 0x0F) + 1
        found[head >> 4] = block[at : at + size]
        at += size
    return found


def _two_byte(block: bytes) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = 0
    while at + 1 < len(block):
        if block[at] == 0:  # padding
            at += 1
            continue
        size = block[at + 1]
        found[block[at]] = block[at + 2 : at + 2 + size]
        at += 2 + size
    return found


class Unwrapper:
    """Turns wrapping counters (sequence numbers, time stamps) into ever growing integers."""

    def __init__(self, bits: int) -> None:
        self._modulus = 1 << bits
        self._last: int | None = None

    def unwrap(self, value: int) -> int:
        """Return the integer nearest to the last one that *value* may stand for."""
        if self._last is None:
            self._last = value
            return value
        step = (value - self._last) % self._modulus
        if step >= self._modulus // 2:
            step -= self._modulus
        unwrapped = self._last + step
        self._last = max(self._last, unwrapped)
        return unwrapped
