"""From one encoded frame to the payloads of its RTP packets, made once for all viewers.

VP8 as in RFC 7741 with a 15-bit picture id, H264 as in RFC 6184 (STAP-A for small units, FU-A for
large ones), Opus as in RFC 7587.
"""

import random
import struct
from collections.abc import Iterator, Sequence
from typing import Protocol

from reactor_runtime.media.encoded_frame import Codec

MAX_PAYLOAD_BYTES = 1200  # with headers, SRTP and UDP below the smallest usual path (1280)

_STAP_A, _FU_A = 24, 28
_START_CODE = b"\x00\x00\x01"


class Packetizer(Protocol):
    """Splits encoded frames of one stream."""

    def packetize(self, frame: bytes) -> Sequence[bytes]:
        """Return the payloads of *frame*, in order; none for an empty frame."""
        ...


class Vp8Packetizer:
    """Numbers pictures, so that receivers notice a lost one."""

    def __init__(self) -> None:
        self._picture_id = random.getrandbits(15)

    def packetize(self, frame: bytes) -> Sequence[bytes]:
        """Return the payloads of one VP8 frame."""
        if not frame:
            return ()
        later = b"\x80\x80" + struct.pack("!H", 0x8000 | self._picture_id)
        first = b"\x90" + later[1:]  # S: a partition begins here
        self._picture_id = (self._picture_id + 1) & 0x7FFF
        parts = _even_parts(frame, MAX_PAYLOAD_BYTES - len(later))
        return [first + parts[0], *(later + part for part in parts[1:])]


def vp8_picture_id(payload: bytes) -> int:
    """Return the number in a payload that ``Vp8Packetizer`` made."""
    return (payload[2] & 0x7F) << 8 | payload[3]


def with_vp8_picture_id(payload: bytes, number: int) -> bytes:
    """Return such a payload under another number."""
    return payload[:2] + struct.pack("!H", 0x8000 | number) + payload[4:]


class H264Packetizer:
    """Packs small units together and cuts large ones."""

    def packetize(self, frame: bytes) -> Sequence[bytes]:
        """Return the payloads of one access unit in Annex B form."""
        payloads: list[bytes] = []
        small: list[bytes] = []
        for unit in split_units(frame):
            if _aggregate_size([*small, unit]) <= MAX_PAYLOAD_BYTES:
                small.append(unit)
                continue
            payloads += _aggregate(small)
            small = []
            if len(unit) <= MAX_PAYLOAD_BYTES - 3:
                small = [unit]
            else:
                payloads += _fragments(unit)
        return payloads + _aggregate(small)


class OpusPacketizer:
    """One packet, one payload."""

    def packetize(self, frame: bytes) -> Sequence[bytes]:
        """Return *frame* itself."""
        return (frame,) if frame else ()


_PACKETIZERS: dict[Codec, type[Vp8Packetizer | H264Packetizer | OpusPacketizer]] = {
    Codec.VP8: Vp8Packetizer,
    Codec.H264: H264Packetizer,
    Codec.OPUS: OpusPacketizer,
}


def make_packetizer(codec: Codec) -> Packetizer:
    """Return a packetizer for one stream of *codec*."""
    return _PACKETIZERS[codec]()


def _even_parts(data: bytes, limit: int) -> list[bytes]:
    count = -(-len(data) // limit)
    size = -(-len(data) // count)
    return [data[at : at + size] for at in range(0, len(data), size)]


def split_units(stream: bytes) -> Iterator[bytes]:
    """Yield the NAL units of an Annex B stream, without start codes."""
    at = stream.find(_START_CODE)
    while at >= 0:
        start = at + len(_START_CODE)
        at = stream.find(_START_CODE, start)
        unit = stream[start:] if at < 0 else stream[start:at].rstrip(b"\x00")
        if unit:
            yield unit


def _aggregate_size(units: Sequence[bytes]) -> int:
    return 1 + sum(2 + len(unit) for unit in units)


def _aggregate(units: Sequence[bytes]) -> list[bytes]:
    if len(units) < 2:
        return list(units)
    importance = max(unit[0] & 0x60 for unit in units)
    head = bytes([importance | _STAP_A])
    return [head + b"".join(struct.pack("!H", len(unit)) + unit for unit in units)]


def _fragments(unit: bytes) -> list[bytes]:
    indicator, kind = unit[0] & 0xE0 | _FU_A, unit[0] & 0x1F
    parts = _even_parts(unit[1:], MAX_PAYLOAD_BYTES - 2)
    last = len(parts) - 1
    flags = [(0x80 if at == 0 else 0) | (0x40 if at == last else 0) for at in range(len(parts))]
    return [bytes([indicator, flag | kind]) + part for flag, part in zip(flags, parts, strict=True)]
