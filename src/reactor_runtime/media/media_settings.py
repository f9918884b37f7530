"""MediaSettings: what an operator or author may decide about pictures and sound."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSettings:
    """Limits and choices of one live stream.

    Attributes:
        bitrate: Bits per second of a video track at 1280x720 and 24 fps; scaled by pixels and fps.
        max_bitrate: Bits per second no video track exceeds.
        max_fps: Frames per second no chunk without audio is shown faster than, whatever its author
            pins; a faster model is slowed down to it.
        max_width: Pixels; larger pictures are scaled down, keeping their shape.
        max_height: Pixels; larger pictures are scaled down, keeping their shape.
        buffer_frames: The author's bound on queued frames; ``None`` for two frames or one chunk.
        encoder_threads: Threads of one video encoder; ``None`` lets picture and machine decide.
        encoder_idle_s: Seconds an encoder stays open after its last subscriber left.
        audio_bitrate: Bits per second of an audio track.
    """

    bitrate: int = 3_500_000
    max_bitrate: int = 8_000_000
    max_fps: float = 60.0
    max_width: int | None = None
    max_height: int | None = None
    buffer_frames: int | None = None
    encoder_threads: int | None = None
    encoder_idle_s: float = 10.0
    audio_bitrate: int = 96_000
