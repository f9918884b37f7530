"""RecordingSettings: what a deployment decides about recordings."""

from dataclasses import dataclass

from reactor_runtime.recording.mp4_writer import AudioCodec


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingSettings:
    """How sessions are recorded, and how much of them is kept.

    Attributes:
        chunk_s: Seconds of one segment; a clip consists of whole ones.
        clip_max_s: Seconds the longest clip may reach back.
        video_track: The output track whose pictures are recorded, ``None`` for none.
        audio_track: The output track whose sound is, ``None`` for none.
        crf: Constant quality of the pictures, 0 (lossless) to 51.
        max_bitrate: Bits per second the pictures may not exceed for long.
        audio_codec: How the sound is compressed.
        audio_bitrate: Bits per second of it.
        keep_s: Seconds a recording is kept after its session has ended.
        max_bytes: Bytes of all recordings; past them the oldest seconds go.
        max_queued_bytes: Bytes of pictures that may wait for the encoder; past them some are
            left out.
    """

    chunk_s: float = 2.0
    clip_max_s: float = 300.0
    video_track: str | None = None
    audio_track: str | None = None
    crf: int = 23
    max_bitrate: int = 8_000_000
    audio_codec: AudioCodec = AudioCodec.AAC
    audio_bitrate: int = 128_000
    keep_s: float = 300.0
    max_bytes: int = 1 << 30
    max_queued_bytes: int = 64 << 20

    @property
    def tracks(self) -> tuple[str, ...]:
        """The names of the recorded tracks."""
        return tuple(name for name in (self.video_track, self.audio_track) if name is not None)
