"""FrameAssembler: packets in order become whole encoded frames."""

from typing import NamedTuple

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.depacketizer import begins_key_frame, unpack_payload
from reactor_runtime.webrtc.rtp_packet import RtpPacket

_MAX_FRAME_BYTES = 8 * 1024 * 1024


class WholeFrame(NamedTuple):
    """One encoded frame: its bitstream and its 32-bit time stamp."""

    data: bytes
    timestamp: int


class FrameAssembler:
    """Joins packets of one time stamp; a frame is whole at its marker or at the next time stamp.

    After a loss, pictures are dropped until one that a decoder can start at.

    Attributes:
        needs_key: Whether only a key frame helps; true at the start.
        dropped: Frames given up.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._parts: list[bytes] = []
        self._size = self._timestamp = 0
        self.needs_key = codec.is_video
        self.dropped = 0

    def lose(self) -> None:
        """Note that packets are missing before the next one."""
        if self._codec.is_video:
            self.needs_key = True
            self.dropped += 1
            self._clear()

    def add(self, packet: RtpPacket) -> list[WholeFrame]:
        """Take the next packet; return the frames that are whole now (at most two)."""
        if not packet.payload:
            return []
        if not self._codec.is_video:
            return [WholeFrame(packet.payload, packet.timestamp)]
        frames = []
        if self._parts and packet.timestamp != self._timestamp:
            frames.append(self._finish())
        if not self._take(packet):
            return frames
        if packet.marker:
            frames.append(self._finish())
        return frames

    def _take(self, packet: RtpPacket) -> bool:
        if self.needs_key:
            if not begins_key_frame(self._codec, packet.payload):
                return False
            self.needs_key = False
        try:
            part = unpack_payload(self._codec, packet.payload)
        except ValueError:
            self.lose()
            return False
        self._parts.append(part)
        self._size += len(part)
        self._timestamp = packet.timestamp
        if self._size > _MAX_FRAME_BYTES:
            self.lose()
            return False
        return True

    def _finish(self) -> WholeFrame:
        frame = WholeFrame(b"".join(self._parts), self._timestamp)
        self._clear()
        return frame

    def _clear(self) -> None:
        self._parts.clear()
        self._size = 0
