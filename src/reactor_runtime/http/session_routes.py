"""Start, look at and stop the session; read the model's schema."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reactor_runtime.http.body_limits import parse_as, read_object
from reactor_runtime.http.stage import Stage
from reactor_runtime.session.descriptor import make_descriptor
from reactor_runtime.session.request_bodies import StopBody
from reactor_runtime.session.session_state import SessionState

UNBORN = make_descriptor(SessionState.CREATED, "", None)  # while the model's class is imported


class SessionRoutes:
    """The routes of the session itself."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/start_session", self.start, methods=["POST"]),
            Route("/stop_session", self.stop, methods=["POST"]),
            Route("/session", self.describe, methods=["GET"]),
            Route("/schema", self.schema, methods=["GET"]),
        ]

    async def start(self, request: Request) -> Response:
        """Start a session: 200 and its descriptor."""
        body = await self._body(request)
        return JSONResponse(await self._stage.need_session().start_session(body))

    async def stop(self, request: Request) -> Response:
        """End the session: 200 and nothing."""
        stop = parse_as(StopBody, await self._body(request))
        await self._stage.need_session().stop_session(stop.reason, stop.moderate)
        return Response()

    async def describe(self, _request: Request) -> Response:
        """Show the session, whatever its state."""
        session = self._stage.session
        return JSONResponse(UNBORN if session is None else session.descriptor())

    async def schema(self, _request: Request) -> Response:
        """Show the model's OpenAPI document, empty until it has loaded."""
        session = self._stage.session
        return JSONResponse({} if session is None else session.schema())

    async def _body(self, request: Request) -> dict[str, Any]:
        settings = self._stage.settings
        return await read_object(request, settings.json_limit_bytes, settings.body_timeout_s)
