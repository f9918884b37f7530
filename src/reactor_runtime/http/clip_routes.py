"""Clips over HTTP: a playlist and its segments, or the whole clip as one file.

Who knows a recording's id may have it: the id is a secret of 128 bits. The name that a session's
starter gave it finds its recording, too, for whoever may ask for everything else.
"""

import math
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Send

from reactor_runtime.http.body_limits import parse_as
from reactor_runtime.http.byte_range import read_range
from reactor_runtime.http.stage import Stage
from reactor_runtime.log import get_logger

if TYPE_CHECKING:  # the routes answer before media is loaded, and where nothing is recorded
    from reactor_runtime.recording.clip import Clip
    from reactor_runtime.recording.recording import Recording
    from reactor_runtime.recording.shelf import Shelf

PLAYLIST, HEAD, SEGMENT = "application/vnd.apple.mpegurl", "video/mp4", "video/iso.segment"
_SEGMENT_NAME = re.compile(r"chunk_([0-9]{5,9})\.m4s")
_MOST_RETRY_S = 2
_PIECE_BYTES = 64 * 1024

_Result = TypeVar("_Result")

log = get_logger(__name__)


class ClipQuery(BaseModel):
    """Which clip: *session_id* is the recording's id, *start* and *end* are its seconds."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    session_id: str
    start: float
    end: float


class PartQuery(BaseModel):
    """Of which clip a part is: the numbers of its first and last segment; alone unless given."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    first: int | None = None
    last: int | None = None


class ClipRoutes:
    """The routes of recordings. Those of a process that records nothing know none."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/clips", self.playlist, methods=["GET"]),
            Route("/clips/file", self.file, methods=["GET"]),
            Route("/clips/metadata", self.metadata, methods=["GET"]),
            Route("/clips/chunks/{recording_id}/init.mp4", self.head, methods=["GET"]),
            Route("/clips/chunks/{recording_id}/{name}", self.segment, methods=["GET"]),
        ]

    async def playlist(self, request: Request) -> Response:
        """Answer with the clip's playlist, or 202 until its last segment is closed."""
        clip = self._clip(request)
        if isinstance(clip, Response):
            return clip
        return Response(clip.playlist(), media_type=PLAYLIST)

    async def file(self, request: Request) -> Response:
        """Answer with the whole clip as one file, or 202 until there is all of it."""
        clip = self._clip(request)
        if isinstance(clip, Response):
            return clip
        head = clip.head()
        total = len(head) + sum(each.film_bytes for each in clip.segments)
        headers = {
            "Accept-Ranges": "bytes",
            "Content-Disposition": 'attachment; filename="clip.mp4"',
            "ETag": clip.etag,
        }
        asked = request.headers.get("range")
        if request.headers.get("if-range", clip.etag) != clip.etag:
            asked = None  # it has the beginning of another file
        part = read_range(asked, total)
        if part is not None and not part:
            refusal = {**headers, "Content-Range": f"bytes */{total}"}
            return JSONResponse({"detail": f"the clip has {total} bytes"}, 416, refusal)
        wanted = range(total) if part is None else part
        headers["Content-Length"] = str(len(wanted))
        if part is not None:
            headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{total}"
        status = 200 if part is None else 206
        sent = wanted[:0] if request.method == "HEAD" else wanted
        content = _file(head, clip, self._shelf(), sent)
        return _ClipFile(content, status, headers, HEAD)

    async def metadata(self, request: Request) -> Response:
        """Answer with what the author said beside the clip, or 202 until it is all there."""
        clip = self._clip(request)
        if isinstance(clip, Response):
            return clip
        notes = await _read(clip.notes, self._shelf())
        return JSONResponse({"duration": round(clip.duration_s, 6), "entries": notes})

    async def head(self, request: Request) -> Response:
        """Answer with what the file of a clip begins with."""
        recording = self._recording(request.path_params["recording_id"])
        asked = parse_as(PartQuery, dict(request.query_params), "query")
        if not recording.head:
            raise HTTPException(404, "nothing has been recorded yet")
        if asked.first is None or asked.last is None:
            return Response(recording.head, media_type=HEAD)
        from reactor_runtime.recording.clip import Clip

        segments = [s for s in recording.segments if asked.first <= s.number <= asked.last]
        if not segments:
            raise HTTPException(404, "no such segments")
        return Response(Clip(recording=recording, segments=segments).head(), media_type=HEAD)

    async def segment(self, request: Request) -> Response:
        """Answer with one segment; as a part of a clip its times begin with those of the clip."""
        recording = self._recording(request.path_params["recording_id"])
        asked = parse_as(PartQuery, dict(request.query_params), "query")
        named = _SEGMENT_NAME.fullmatch(request.path_params["name"])
        segment = recording.segment(int(named[1])) if named else None
        if segment is None:
            raise HTTPException(404, "no such segment")
        start_s = 0.0 if asked.first is None else recording.start_of(asked.first)
        if start_s is None or start_s > segment.start_s:
            raise HTTPException(404, "no such clip")
        from reactor_runtime.recording.clip import part

        content = await _read(part, self._shelf(), recording, segment, start_s)
        length = {"Content-Length": str(len(content))}
        return StreamingResponse(_pieces(content), 200, length, SEGMENT)

    def _shelf(self) -> "Shelf":
        if self._stage.recordings is None:
            raise HTTPException(410, "no such recording; nothing is recorded here")
        return self._stage.recordings

    def _recording(self, recording_id: str) -> "Recording":
        recording = self._shelf().find(recording_id)
        if recording is None:
            raise HTTPException(410, "no such recording; it may have expired")
        return recording

    def _clip(self, request: Request) -> "Clip | Response":
        """Return the clip that is asked for, or the answer that says to wait for it."""
        asked = parse_as(ClipQuery, dict(request.query_params), "query")
        recording = self._recording(asked.session_id)
        if not (0 <= asked.start < asked.end < math.inf):
            raise HTTPException(400, "a clip starts at 0 or later and ends after its start")
        if not recording.is_closed_until(asked.end):
            wait_s = asked.end - recording.closed_until_s
            retry_s = min(max(round(wait_s), 0), _MOST_RETRY_S)
            return Response(status_code=202, headers={"Retry-After": str(retry_s)})
        segments = recording.between(asked.start, asked.end)
        if not segments:
            raise HTTPException(410, "nothing of it was kept")
        from reactor_runtime.recording.clip import Clip

        return Clip(recording=recording, segments=segments)


class _BrokenOffError(Exception):
    """Raised when the rest of a clip is gone, and nobody can be told by a status any more."""


class _ClipFile(StreamingResponse):
    """The file of a clip. Where the rest is gone it ends too early, and its connection with it."""

    async def stream_response(self, send: Send) -> None:
        """Send what there is."""
        with suppress(_BrokenOffError):
            await super().stream_response(send)


async def _file(head: bytes, clip: "Clip", shelf: "Shelf", wanted: range) -> AsyncIterator[bytes]:
    """Yield the bytes *wanted* of the clip's file; reads no other segment."""
    async for piece in _pieces(head[wanted.start : wanted.stop]):
        yield piece
    start = len(head)
    for segment in clip.segments:
        here = range(max(wanted.start, start), min(wanted.stop, start + segment.film_bytes))
        if here:
            try:
                content = await run_in_threadpool(clip.part, shelf, segment)
            except OSError as error:
                is_gone = isinstance(error, FileNotFoundError)
                reason = "it was removed while it was being fetched" if is_gone else error.strerror
                log.warning("clip_broken_off", segment=segment.number, reason=reason)
                raise _BrokenOffError from None
            async for piece in _pieces(content[here.start - start : here.stop - start]):
                yield piece
        start += segment.film_bytes


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    """Yield *content* bit by bit: a slow reader is seen to read on."""
    for start in range(0, len(content), _PIECE_BYTES):
        yield content[start : start + _PIECE_BYTES]


async def _read(work: Callable[..., _Result], *args: object) -> _Result:
    """Do *work*, which reads from disk, beside the event loop."""
    try:
        return await run_in_threadpool(work, *args)
    except FileNotFoundError:
        raise HTTPException(404, "it has just been removed") from None
