"""EncodedFrame: one compressed picture or sound packet, made once and sent to every viewer."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from reactor_runtime.media.rung import Rung


class Codec(StrEnum):
    """Codecs the runtime sends."""

    VP8 = "VP8"
    H264 = "H264"
    OPUS = "opus"

    @property
    def is_video(self) -> bool:
        """Whether it carries pictures."""
        return self is not Codec.OPUS

    @property
    def clock_rate(self) -> int:
        """Units of an RTP time stamp per second (RFC 7741, RFC 6184, RFC 7587)."""
        return 90_000 if self.is_video else 48_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedFrame:
    """One encoder packet of one track.

    Attributes:
        track: Name of the output track.
        codec: What *data* is.
        data: The bitstream: a VP8 frame, H264 Annex B, or an Opus packet.
        timestamp: Media time in RTP units of the codec (90 kHz video, 48 kHz audio), unwrapped.
        presented_at: Monotonic seconds at which *timestamp* lies on the stream's timeline; all
            tracks of a model share it, so it is what keeps sound and picture together.
        is_key: A viewer may start here.
        number: Counts the encoder's packets from 0; a gap means the viewer was cut.
        rung: The quality it is encoded in; a viewer changes to another at a key frame.
        metadata: The author's metadata of this frame, if any.
    """

    track: str
    codec: Codec
    data: bytes
    timestamp: int
    presented_at: float
    is_key: bool
    number: int
    rung: Rung = Rung.TOP
    metadata: Any = field(default=None, compare=False)
