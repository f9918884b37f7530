"""The control plane over HTTP: one table of routes, one of errors, and the server under them.

Bodies are JSON (or the bytes of a file) and bounded. A held request for orders is how an agent
learns of a change at once; heartbeats are requests of their own.
"""

import asyncio
import hmac
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from reactor_runtime.errors import (
    AgentNameTakenError,
    JobConflictError,
    ReactorError,
    SourceError,
    UnknownJobError,
)
from reactor_runtime.http_server import HttpServer
from reactor_runtime.launcher.agent_messages import (
    AgentStart,
    Beat,
    NodeOffer,
    Orders,
    Report,
    Submission,
)
from reactor_runtime.launcher.control_plane import ControlPlane
from reactor_runtime.launcher.file_shelf import MAX_LOG_CHUNK, MAX_OUTPUT_BYTES, FileShelf
from reactor_runtime.launcher.source_bundle import MAX_SOURCE_BYTES
from reactor_runtime.mistake import first_mistake

MAX_JSON_BYTES = 1024**2
MAX_HOLD_S = 25
TICK_S = 0.25
_MOST_DIGITS = 18
_STATUSES: dict[type[ReactorError], int] = {
    UnknownJobError: 404,
    JobConflictError: 409,
    AgentNameTakenError: 409,
    SourceError: 400,
}
M = TypeVar("M", bound=BaseModel)


class ControlApi:
    """The routes of one control plane."""

    def __init__(self, plane: ControlPlane, shelf: FileShelf) -> None:
        self._plane, self._shelf = plane, shelf
        self._changed = asyncio.Event()
        self._is_closing = False

    def app(self, token: str | None) -> ASGIApp:
        """Return the application; every request must bear *token* when there is one."""
        routes = [
            Route("/v1/agents", self.register, methods=["POST"]),
            Route("/v1/agents", self.agents, methods=["GET"]),
            Route("/v1/beats", self.beat, methods=["POST"]),
            Route("/v1/agents/{agent}/orders", self.orders, methods=["GET"]),
            Route("/v1/reports", self.report, methods=["POST"]),
            Route("/v1/jobs", self.submit, methods=["POST"]),
            Route("/v1/jobs", self.jobs, methods=["GET"]),
            Route("/v1/jobs/{job}", self.job, methods=["GET"]),
            Route("/v1/jobs/{job}/cancel", self.cancel, methods=["POST"]),
            *FileRoutes(self._shelf).routes(),
        ]
        handlers: dict[Any, Any] = {ReactorError: _refusal, ValidationError: _wrong_body}
        app: ASGIApp = Starlette(routes=routes, exception_handlers=handlers)
        return app if token is None else _TokenGate(app, token)

    def notify(self) -> None:
        """Wake every held request. On the event loop only."""
        self._changed.set()
        self._changed = asyncio.Event()

    def close(self) -> None:
        """Answer held requests at once, now and later. On the event loop only."""
        self._is_closing = True
        self.notify()

    async def register(self, request: Request) -> Response:
        """Take an agent in."""
        offer = await _body(request, NodeOffer)
        return _json(await run_in_threadpool(self._plane.register, offer))

    async def agents(self, request: Request) -> Response:
        """Return the names of the agents that have registered."""
        return JSONResponse(await run_in_threadpool(self._plane.agents))

    async def beat(self, request: Request) -> Response:
        """Take a sign of life; 410 asks the agent to register."""
        answer = await run_in_threadpool(self._plane.beat, await _body(request, Beat))
        return Response(status_code=410) if answer is None else _json(answer)

    async def orders(self, request: Request) -> Response:
        """Return an agent's orders once their version is another than it knows."""
        incarnation = request.query_params.get("incarnation", "")
        agent = AgentStart(request.path_params["agent"], incarnation)
        since, hold_s = _number(request, "since", -1), _number(request, "hold_s")
        deadline = asyncio.get_running_loop().time() + min(hold_s, MAX_HOLD_S)
        while True:
            changed = self._changed
            orders: Orders = await run_in_threadpool(self._plane.orders, agent)
            left = deadline - asyncio.get_running_loop().time()
            if orders.version != since or left <= 0 or self._is_closing:
                return _json(orders)
            if await _hangs_up(request, changed, left):
                await run_in_threadpool(self._plane.hang_up, agent)
                return Response(status_code=499)

    async def report(self, request: Request) -> Response:
        """Take what an agent says of a task."""
        await run_in_threadpool(self._plane.report, await _body(request, Report))
        return Response(status_code=204)

    async def submit(self, request: Request) -> Response:
        """Queue a job whose source is here."""
        submission = await _body(request, Submission)
        if not self._shelf.source(submission.source).is_file():
            raise SourceError(submission.source, "has not been sent")
        return _json(await run_in_threadpool(self._plane.submit, submission), 201)

    async def jobs(self, request: Request) -> Response:
        """Return every job."""
        records = await run_in_threadpool(self._plane.jobs)
        return JSONResponse([record.model_dump(mode="json") for record in records])

    async def job(self, request: Request) -> Response:
        """Return one job."""
        return _json(await run_in_threadpool(self._plane.job, request.path_params["job"]))

    async def cancel(self, request: Request) -> Response:
        """Have a job end."""
        return _json(await run_in_threadpool(self._plane.cancel, request.path_params["job"]))


class FileRoutes:
    """The routes of sources, logs and outputs."""

    def __init__(self, shelf: FileShelf) -> None:
        self._shelf = shelf

    def routes(self) -> list[Route]:
        """Return the table."""
        log = "/v1/attempts/{attempt}/nodes/{node:int}/log"
        output = "/v1/jobs/{job}/nodes/{node:int}/outputs/{name:path}"
        return [
            Route("/v1/sources/{sha256}", self.send_source, methods=["GET"]),
            Route("/v1/sources/{sha256}", self.take_source, methods=["PUT"]),
            Route(log, self.send_log, methods=["GET"]),
            Route(log, self.take_log, methods=["PUT"]),
            Route(output, self.take_output, methods=["PUT"]),
        ]

    async def send_source(self, request: Request) -> Response:
        """Send an archive."""
        path = self._shelf.source(request.path_params["sha256"])
        return FileResponse(path) if path.is_file() else Response(status_code=404)

    async def take_source(self, request: Request) -> Response:
        """Take an archive."""
        sha256 = request.path_params["sha256"]
        path = self._shelf.source(sha256)
        await self._shelf.receive(request.stream(), path, sha256, MAX_SOURCE_BYTES)
        return Response(status_code=204)

    async def send_log(self, request: Request) -> Response:
        """Send a node's log from an offset on, at most ``MAX_LOG_CHUNK`` bytes."""
        path = self._shelf.log(request.path_params["attempt"], request.path_params["node"])
        offset = _number(request, "offset")
        return Response(await run_in_threadpool(_read, path, offset), media_type="text/plain")

    async def take_log(self, request: Request) -> Response:
        """Take a part of a node's log and say how much of the log is here."""
        chunk = await _bytes(request, MAX_LOG_CHUNK)
        size = await run_in_threadpool(
            self._shelf.append_log,
            request.path_params["attempt"],
            request.path_params["node"],
            _number(request, "offset"),
            chunk,
        )
        return JSONResponse({"size": size})

    async def take_output(self, request: Request) -> Response:
        """Take one output file."""
        params = request.path_params
        target = self._shelf.output(params["job"], params["node"], params["name"])
        sha256 = request.query_params.get("sha256", "")
        await self._shelf.receive(request.stream(), target, sha256, MAX_OUTPUT_BYTES)
        return Response(status_code=204)


async def _hangs_up(request: Request, changed: asyncio.Event, seconds: float) -> bool:
    """Wait for a change, for *seconds* at most; return whether the client went away meanwhile."""
    gone = asyncio.ensure_future(request.receive())
    change = asyncio.ensure_future(changed.wait())
    try:
        await asyncio.wait({gone, change}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return gone.done() and gone.result()["type"] == "http.disconnect" and not change.done()
    finally:
        gone.cancel()
        change.cancel()


async def serve_control_plane(
    plane: ControlPlane,
    shelf: FileShelf,
    listeners: Sequence[socket.socket],
    token: str | None,
    stop: asyncio.Event,
) -> None:
    """Answer on *listeners* until *stop*.

    Args:
        plane: The control plane; what it calls after a change is set here.
        shelf: Where files are kept.
        listeners: Listening sockets.
        token: What every request must bear; ``None`` on loopback.
        stop: Set to end.
    """
    loop = asyncio.get_running_loop()
    api = ControlApi(plane, shelf)
    plane.on_change = lambda: loop.call_soon_threadsafe(api.notify)
    server = HttpServer(api.app(token))
    async with asyncio.TaskGroup() as tasks:
        ticking = tasks.create_task(_tick(plane))
        tasks.create_task(server.serve(listeners))
        await stop.wait()
        api.close()
        server.stop()
        ticking.cancel()


async def _tick(plane: ControlPlane) -> None:
    while True:
        await run_in_threadpool(plane.tick)
        await asyncio.sleep(TICK_S)


class _TokenGate:
    """Answers 401 to whoever does not bear the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._wanted = app, f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = dict(scope.get("headers", [])).get(b"authorization", b"")
        if scope["type"] == "http" and not hmac.compare_digest(given, self._wanted):
            answer: Response = JSONResponse({"error": "a valid token is required"}, 401)
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


async def _bytes(request: Request, limit: int) -> bytes:
    parts, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise SourceError("the request", f"has a body larger than {limit} bytes")
        parts.append(chunk)
    return b"".join(parts)


def _number(request: Request, name: str, least: int = 0) -> int:
    text = request.query_params.get(name, "0")
    digits = text.removeprefix("-")
    if not (digits.isdecimal() and len(digits) < _MOST_DIGITS and int(text) >= least):
        raise SourceError("the request", f"has {name}={text[:40]!r}; wanted a whole number")
    return int(text)


async def _body(request: Request, kind: type[M]) -> M:
    request.state.kind = kind
    return kind.model_validate_json(await _bytes(request, MAX_JSON_BYTES))


def _json(answer: BaseModel, status: int = 200) -> Response:
    return Response(answer.model_dump_json(), status, media_type="application/json")


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(MAX_LOG_CHUNK)
    except FileNotFoundError:
        return b""


async def _refusal(request: Request, error: Exception) -> Response:
    status = next((s for kind, s in _STATUSES.items() if isinstance(error, kind)), 400)
    return JSONResponse({"error": str(error)}, status)


async def _wrong_body(request: Request, error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    mistake = first_mistake(error, request.state.kind)
    where = f"{mistake.key}: " if mistake.key else ""
    return JSONResponse({"error": f"{where}{mistake}"}, 422)
