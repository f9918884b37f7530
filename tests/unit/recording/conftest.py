import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.unit.media.material import CLOCK, audio, video
from tests.waiting import until

from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.tracks import Track
from reactor_runtime.recording.clip import Clip
from reactor_runtime.recording.recorder import Recorder
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.recording_settings import RecordingSettings
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.scratch_folder import ScratchFolder
from reactor_runtime.session.session_state import SessionState


class NotingShelf(Shelf):
    """Notes what it hands out."""

    newest: Recording

    def begin(self) -> Recording:
        self.newest = super().begin()
        return self.newest


@dataclass
class Studio:
    """A stream that is recorded, and everything around it."""

    stream: LiveStream
    folder: Path
    shelf: NotingShelf
    recorder: Recorder
    metrics: Metrics
    kept: list[tuple[str, int]] = field(default_factory=list)

    def follow(self, *states: SessionState) -> None:
        for state in states:
            self.recorder.follow(state)

    def begin(self) -> Recording:
        """Start a session that somebody watches."""
        self.follow(SessionState.WAITING, SessionState.STREAMING)
        return self.shelf.newest

    async def end(self, recording: Recording) -> None:
        """End the session and wait until all of it is stored."""
        self.follow(SessionState.CLOSING)
        await until(lambda: recording.ended_at is not None, 20, lambda: "never complete")

    def write(self, recording: Recording, path: Path, start_s: float = 0.0) -> Path:
        """Write what there is from *start_s* on as a file."""
        clip = Clip(recording=recording, segments=recording.between(start_s, 1e9))
        parts = [clip.part(self.shelf, each) for each in clip.segments]
        path.write_bytes(clip.head() + b"".join(parts))
        return path

    def losses(self, reason: str) -> float:
        value = self.metrics.registry.get_sample_value(
            "reactor_recording_losses_total", {"reason": reason}
        )
        return value or 0.0


MakeStudio = Callable[..., Studio]


@pytest.fixture
async def make_studio(tmp_path: Path) -> AsyncIterator[MakeStudio]:
    """Return a maker of started studios; they are closed at the end and leave nothing."""
    studios: list[Studio] = []
    root = tmp_path / "shelf"

    def make(*tracks: Track, open_take: Any = None, max_bytes: int = 1 << 30, **facts: Any) -> Any:
        folder, metrics = ScratchFolder("recordings", root), Metrics()
        path = folder.open()
        shelf = NotingShelf(folder, max_bytes=max_bytes, keep_s=300, clock=CLOCK, metrics=metrics)
        chosen: dict[str, Any] = {
            "video_track": "main",
            "audio_track": "voice",
            "chunk_s": 1.0,
        } | facts
        more = {} if open_take is None else {"open_take": open_take}
        settings = RecordingSettings(**chosen)
        recorder = Recorder(shelf, settings, clock=CLOCK, metrics=metrics, **more)
        stream = LiveStream(
            tracks or [video(), audio()], settings=MediaSettings(), clock=CLOCK, metrics=metrics
        )
        stream.give_to(recorder, recorder.tracks)
        studio = Studio(stream, path, shelf, recorder, metrics)
        loop = asyncio.get_running_loop()
        stream.start(loop)
        recorder.start(loop, lambda *what: studio.kept.append(what))
        studios.append(studio)
        return studio

    yield make
    for studio in studios:
        studio.stream.stop()
        studio.recorder.stop()
        studio.shelf.close()
    assert not root.exists() or list(root.iterdir()) == []
