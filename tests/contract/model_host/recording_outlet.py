"""RecordingOutlet: what a host reported, in order, and a queue whose room a test decides."""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.host.host_outlet import (
    Chunk,
    CommandReply,
    HostFailure,
    OutboundMessage,
    StepReport,
)


@dataclass(frozen=True)
class Shown:
    """A chunk as it was when it was put: its arrays may be overwritten afterwards."""

    video: Mapping[str, NDArray[np.uint8]]
    audio: Mapping[str, NDArray[np.int16]]
    chunk: Chunk

    @property
    def value(self) -> int:
        """The first sample of the first picture: models here paint one value."""
        return int(next(iter(self.video.values())).flat[0])


@dataclass(frozen=True)
class Dropped:
    chunk: Chunk


@dataclass(frozen=True)
class Unread:
    track: str
    frames: int
    reason: str


@dataclass(frozen=True)
class Flushed:
    pass


@dataclass(frozen=True)
class Paced:
    fps: float


@dataclass(frozen=True)
class Begun:
    session_id: str
    number: int


@dataclass(frozen=True)
class Opened:
    session_id: str


@dataclass(frozen=True)
class Closed:
    session_id: str


class RecordingOutlet:
    """Implements ``HostOutlet``. *room* is how many frames it takes; ``None`` takes all."""

    def __init__(self) -> None:
        self.reports: list[Any] = []
        self.room: int | None = None
        self.not_before: float | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._looking: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    # --- what a host calls ---

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        if self.not_before is not None:
            return self.not_before
        return time.monotonic() if self.has_room(frames + coming) else None

    def has_room(self, frames: int) -> bool:
        return self.room is None or self.room >= frames

    def on_room(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        video = {name: np.array(pictures) for name, pictures in chunk.video.items()}
        audio = {name: np.array(sound) for name, sound in chunk.audio.items()}
        if wanted is not None and not wanted():
            return
        if self.room is not None:
            self.room -= max((len(p) for p in video.values()), default=1)
        # The chunk's own arrays may be views of frames that are to be written again.
        self._note(Shown(video, audio, replace(chunk, video={}, audio={})))

    def dropped(self, chunk: Chunk) -> None:
        self._note(Dropped(replace(chunk, video={}, audio={})))

    def unread(self, track: str, frames: int, reason: str) -> None:
        self._note(Unread(track, frames, reason))

    def flush(self) -> None:
        self._note(Flushed())

    def set_fps(self, fps: float) -> None:
        self._note(Paced(fps))

    def message(self, message: OutboundMessage) -> None:
        self._note(message)

    def reply(self, reply: CommandReply) -> None:
        self._note(reply)

    def step_begun(self, session_id: str, number: int) -> None:
        self._note(Begun(session_id, number))

    def step_done(self, report: StepReport) -> None:
        self._note(report)

    def session_opened(self, session_id: str) -> None:
        self._note(Opened(session_id))

    def session_closed(self, session_id: str) -> None:
        self._note(Closed(session_id))

    def failed(self, failure: HostFailure) -> None:
        self._note(failure)

    # --- what a test asks ---

    def give_room(self, frames: int | None) -> None:
        """Let *frames* more in; ``None`` lets all in."""
        self.room = None if frames is None else (self.room or 0) + frames
        self.call_back()

    def call_back(self) -> None:
        for callback in self._callbacks:
            callback()

    def of(self, kind: type[Any]) -> list[Any]:
        with self._lock:
            return [report for report in self.reports if isinstance(report, kind)]

    @property
    def texts(self) -> list[str]:
        """The ``text`` of every message, in order."""
        return [message.body["text"] for message in self.of(OutboundMessage)]

    def reply_to(self, call_id: int) -> CommandReply | None:
        return next((r for r in self.of(CommandReply) if r.call_id == call_id), None)

    async def until(self, condition: Callable[[], Any], timeout_s: float = 10.0) -> Any:
        """Return what *condition* returns once that is true; it is asked after every report."""
        entry = (asyncio.get_running_loop(), asyncio.Event())
        self._looking.add(entry)
        try:
            async with asyncio.timeout(timeout_s):
                while not (found := condition()):
                    await entry[1].wait()
                    entry[1].clear()
                return found
        except TimeoutError:
            raise AssertionError(f"never came; reported: {self.reports[-20:]}") from None
        finally:
            self._looking.discard(entry)

    async def next(self, kind: type[Any], count: int = 1) -> list[Any]:
        """Return the first *count* reports of *kind*, waiting for them."""
        found: list[Any] = await self.until(
            lambda: reports[:count] if len(reports := self.of(kind)) >= count else None
        )
        return found

    async def more(self, kind: type[Any], count: int = 1, *, after: int | None = None) -> list[Any]:
        """Return the next *count* reports of *kind*, from now on or *after* so many of them."""
        before = len(self.of(kind)) if after is None else after
        found: list[Any] = await self.until(
            lambda: (
                reports[before : before + count]
                if len(reports := self.of(kind)) >= before + count
                else None
            )
        )
        return found

    def _note(self, report: Any) -> None:
        with self._lock:
            self.reports.append(report)
        for loop, event in tuple(self._looking):
            loop.call_soon_threadsafe(event.set)
