"""Routes for operators and their machines: health, figures, the stream of events."""

import json
from collections.abc import AsyncIterator
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reactor_runtime.errors import RequestShapeError, SessionUnavailableError
from reactor_runtime.http.body_limits import problem
from reactor_runtime.http.event_stream import EventStreamResponse
from reactor_runtime.http.stage import Stage
from reactor_runtime.metrics import CONTENT_TYPE

_READY_STATES = frozenset({"available", "serving"})
_STREAM_RETRY_AFTER_S = 5


class OperatorRoutes:
    """What a probe, a scraper or a person at a terminal asks for.

    ``/health`` and ``/health/live``: the process works or is on its way to. ``/health/ready``: a
    session can be started or runs, so a load balancer may send somebody here.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._open_streams = 0

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/health", self.health, methods=["GET"]),
            Route("/health/live", self.health, methods=["GET"]),
            Route("/health/ready", self.readiness, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/events", self.events, methods=["GET"]),
        ]

    async def health(self, _request: Request) -> Response:
        """Answer 200 unless the model is gone for good."""
        is_ok, state, detail = self._stage.health()
        return _health_response(is_ok, state, detail)

    async def readiness(self, _request: Request) -> Response:
        """Answer 200 while a session can be started or runs."""
        is_ok, state, detail = self._stage.health()
        is_ready = is_ok and state in _READY_STATES and not self._stage.is_closing
        return _health_response(is_ready, state, detail)

    async def metrics(self, _request: Request) -> Response:
        """Show every figure as Prometheus text."""
        return Response(self._stage.metrics.render(), headers={"Content-Type": CONTENT_TYPE})

    async def events(self, request: Request) -> Response:
        """Stream what happens: retained events after ``since`` first, if asked for."""
        since = _since(request)
        if request.method == "HEAD":
            return Response(media_type=EventStreamResponse.media_type)
        if self._open_streams >= self._stage.settings.max_event_streams:
            raise SessionUnavailableError("too many event streams are open", _STREAM_RETRY_AFTER_S)
        session = self._stage.session
        if session is None and since is None:
            since = 0  # nothing has happened yet: all of it will be new
        self._count_streams(1)  # here: of many that come at once each must see the others
        return EventStreamResponse(self._stream(since), partial(self._count_streams, -1))

    async def _stream(self, since: int | None) -> AsyncIterator[str]:
        session = await self._stage.wait_for_session()
        if session is None:
            return
        async for event in session.events.subscribe(since):
            yield f"id: {event.seq}\ndata: {json.dumps(event.payload, default=str)}\n\n"

    def _count_streams(self, change: int) -> None:
        self._open_streams += change
        self._stage.metrics.event_streams.set(self._open_streams)


def _health_response(is_good: bool, state: str, detail: str) -> Response:
    status = "healthy" if is_good else "unhealthy"
    body = {"status": status, "state": state, "detail": detail}
    return JSONResponse(body, 200 if is_good else 503)


def _since(request: Request) -> int | None:
    """Return the number after which events are wanted, ``None`` for new ones only."""
    asked = request.query_params.get("since")
    if asked is None:
        last = request.headers.get("last-event-id", "")
        return int(last) if _is_number(last) else None
    if not _is_number(asked):
        text = "Input should be a valid integer, 0 or more"
        raise RequestShapeError([problem("int_parsing", ("query", "since"), text, asked)])
    return int(asked)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 20
