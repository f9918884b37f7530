"""RtpWriter: numbers and heads the packets of one stream for one viewer."""

import random
import struct
from collections.abc import Mapping, Sequence

from reactor_runtime.webrtc.negotiation import ABS_SEND_TIME_URI, MID_URI, PLAYOUT_DELAY_URI

_HEADER = struct.Struct("!BBHII")
_LARGEST_ONE_BYTE_ID = 14


class RtpWriter:
    """Turns shared payloads into the RTP packets of one stream.

    Sequence numbers have no gaps, however often the stream pauses. Header extensions: mid,
    absolute send time and, if *is_prompt*, a play-out delay of 0 (show at once).

    Attributes:
        ssrc: Of the stream.
        is_prompt: Whether receivers are asked to show pictures at once.
    """

    def __init__(
        self, ssrc: int, payload_type: int, mid: str, extensions: Mapping[str, int]
    ) -> None:
        self.ssrc, self.is_prompt = ssrc, False
        self._payload_type = payload_type
        # In the lower half, so that receivers agree on the first roll-over.
        self._sequence = random.randrange(0x8000)
        usable = {uri: id_ for uri, id_ in extensions.items() if id_ <= _LARGEST_ONE_BYTE_ID}
        self._mid_element = b""
        if MID_URI in usable and len(mid) <= 16:
            self._mid_element = bytes([usable[MID_URI] << 4 | len(mid) - 1]) + mid.encode()
        self._send_time_id = usable.get(ABS_SEND_TIME_URI, 0)
        self._delay_id = usable.get(PLAYOUT_DELAY_URI, 0)

    @property
    def next_sequence(self) -> int:
        """The number of the next packet."""
        return self._sequence

    def write(
        self, payloads: Sequence[bytes], timestamp: int, now_s: float, *, marks_end: bool
    ) -> list[bytes]:
        """Return the packets of one frame.

        Args:
            payloads: Its parts, in order.
            timestamp: 32 bits, in units of the codec's clock.
            now_s: Seconds of a steady clock, for the absolute send time.
            marks_end: Whether the last packet carries the marker, as pictures want.
        """
        block = self._extension_block(now_s)
        first = 0x90 if block else 0x80
        last = len(payloads) - 1 if marks_end else -1
        number, kind, ssrc, pack = self._sequence, self._payload_type, self.ssrc, _HEADER.pack
        packets = []
        for index, payload in enumerate(payloads):
            second = kind | 0x80 if index == last else kind
            packets.append(pack(first, second, number, timestamp, ssrc) + block + payload)
            number = number + 1 & 0xFFFF
        self._sequence = number
        return packets

    def write_again(
        self, payload: bytes, sequence: int, timestamp: int, now_s: float, *, marker: bool
    ) -> bytes:
        """Return a packet that was sent before, under its old number."""
        block = self._extension_block(now_s)
        second = self._payload_type | (0x80 if marker else 0)
        head = _HEADER.pack(0x90 if block else 0x80, second, sequence, timestamp, self.ssrc)
        return head + block + payload

    def _extension_block(self, now_s: float) -> bytes:
        elements = self._mid_element
        if self._send_time_id:
            stamp = int(now_s * (1 << 18)) & 0xFFFFFF
            elements += bytes([self._send_time_id << 4 | 2]) + stamp.to_bytes(3, "big")
        if self._delay_id and self.is_prompt:
            elements += bytes([self._delay_id << 4 | 2, 0, 0, 0])
        if not elements:
            return b""
        elements += b"\0" * (-len(elements) % 4)
        return struct.pack("!HH", 0xBEDE, len(elements) // 4) + elements


class RepeatWriter:
    """Wraps lost packets for the retransmission stream of RFC 4588."""

    def __init__(
        self, ssrc: int, payload_type: int, mid: str, extensions: Mapping[str, int]
    ) -> None:
        self._writer = RtpWriter(ssrc, payload_type, mid, extensions)

    def write(
        self, payload: bytes, sequence: int, timestamp: int, now_s: float, *, marker: bool
    ) -> bytes:
        """Return the packet that stands for the lost one with number *sequence*."""
        wrapped = struct.pack("!H", sequence) + payload
        return self._writer.write([wrapped], timestamp, now_s, marks_end=marker)[0]
