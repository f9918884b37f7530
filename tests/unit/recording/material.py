"""Material for the recording tests: films as players see them, and streams that are recorded."""

import contextlib
import json
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.media.picture import Picture, PictureMaker
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.cutter import Cutter
from reactor_runtime.recording.mp4_writer import AudioTrack, VideoTrack
from reactor_runtime.recording.note import Note
from reactor_runtime.recording.recording import Recording
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.recording.take import Take
from reactor_runtime.scratch_folder import ScratchFolder

FPS, RATE = 24, 48_000
LOUD_FRAMES = 6
DARK, BRIGHT = 20, 230

needs_ffprobe = pytest.mark.skipif(
    shutil.which("ffprobe") is None, reason="ffprobe is not installed"
)


def picture(level: int, size: tuple[int, int] = (160, 120), metadata: Any = None) -> Picture:
    """A grey picture."""
    rgb = np.full((1, size[1], size[0], 3), level, np.uint8)
    return PictureMaker().convert(rgb, () if metadata is None else (metadata,))[0]


def is_loud(frame: int) -> bool:
    return frame % FPS < LOUD_FRAMES


def beep(frame: int) -> NDArray[np.int16]:
    """The sound of one frame, int16 ``(n, 2)``: a tone during the first quarter of each second."""
    at = np.arange(frame * RATE // FPS, (frame + 1) * RATE // FPS)
    wave = 20_000 * np.sin(2 * np.pi * 1000 * at / RATE) * is_loud(frame)
    return np.repeat(wave.astype(np.int16)[:, None], 2, axis=1)


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What ffprobe says of a file."""

    start_s: float
    duration_s: float
    streams: dict[str, dict[str, Any]]  # by kind

    def fps(self) -> float:
        frames, seconds = self.streams["video"]["avg_frame_rate"].split("/")
        return int(frames) / int(seconds)


def probe(path: Path | str) -> Probe:
    """Return what ffprobe says of a file, or of the playlist at an address."""
    shown = "format=start_time,duration:stream=codec_type,codec_name,width,height,start_time,"
    shown += "duration,avg_frame_rate,r_frame_rate"
    command = ["ffprobe", "-v", "error", "-show_entries", shown, "-of", "json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert done.stderr == ""
    said = json.loads(done.stdout)
    return Probe(
        start_s=float(said["format"]["start_time"]),
        duration_s=float(said["format"]["duration"]),
        streams={each["codec_type"]: each for each in said["streams"]},
    )


def levels(path: Path) -> list[tuple[float, float]]:
    """Return time and mean grey of every picture of a file."""
    with av.open(str(path)) as film:
        return [
            (float(frame.time or 0), float(frame.to_ndarray(format="gray").mean()))
            for frame in film.decode(video=0)
        ]


def flashes(path: Path) -> list[float]:
    """Return when the picture turns bright."""
    shown = levels(path)
    return [at for (_, before), (at, now) in pairwise(shown) if before <= 125 < now]


def beeps(path: Path) -> list[float]:
    """Return when a tone begins after silence, to a millisecond."""
    found, last_loud = list[float](), -1.0
    for at, level in _loudness(path):
        if level > 0.1:
            if at - last_loud > 0.2:
                found.append(at)
            last_loud = at
    return found


def _loudness(path: Path, step: int = 48) -> Iterator[tuple[float, float]]:
    with av.open(str(path)) as film:
        for frame in film.decode(audio=0):
            samples = frame.to_ndarray()
            left = samples[0] if frame.format.is_planar else samples.reshape(-1, 2)[:, 0]
            for start in range(0, len(left), step):
                yield (
                    float(frame.time or 0) + start / RATE,
                    float(np.abs(left[start : start + step]).max()),
                )


def offsets(path: Path) -> list[float]:
    """Return by how much the beep of each flash is late, in seconds; the first may be cut off."""
    heard = beeps(path)
    return [min((beep - flash for beep in heard), key=abs) for flash in flashes(path)]


def typical_offset(path: Path) -> float:
    """Return the median distance of a flash from its beep, in seconds.

    Where the machine is so busy that pictures come a quarter of a second late the stream leaves
    some out, to stay with its sound: a flash may then begin with its second or third picture.
    """
    return statistics.median(map(abs, offsets(path)))


@contextlib.contextmanager
def open_shelf(root: Path, clock: Clock | None = None, keep_s: float = 300) -> Iterator[Shelf]:
    """An empty shelf; afterwards nothing of it is left."""
    folder = ScratchFolder("recordings", root)
    folder.open()
    clock = clock or SystemClock()
    shelf = Shelf(folder, max_bytes=1 << 30, keep_s=keep_s, clock=clock, metrics=Metrics())
    yield shelf
    shelf.close()
    assert list(root.iterdir()) == []


def record(shelf: Shelf, *stretches: float) -> Recording:
    """Record stretches of so many seconds, each a take of its own, in segments of two seconds."""
    recording, cutter, frame = shelf.begin(), Cutter(2.0), 0
    for seconds in stretches:
        video, start = VideoTrack(size=(160, 120), fps=FPS), frame
        take = Take(frame / FPS, chunk_s=2.0, video=video, audio=AudioTrack())
        recording.head = take.head
        while frame < start + seconds * FPS:
            level = BRIGHT if is_loud(frame) else DARK
            said = {"frame": frame} if frame % FPS == 0 else None
            if said:
                cutter.note(Note(at_s=frame / FPS, track="main", value=said))
            take.picture(picture(level), frame / FPS, 1 / FPS)
            take.sound(beep(frame), frame / FPS)
            frame += 1
        take.close(frame / FPS)
        cuts = [cutter.add(fragment) for fragment in take.fragments()]
        for cut in [*cuts, cutter.finish()]:
            if cut is not None:
                shelf.store(recording, (cut.start_s, cut.end_s), cut.film, cut.notes)
    return recording
