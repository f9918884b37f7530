"""The results of steps: ``GET /sessions/{id}/steps``, one step, one of its files."""

import json
import mimetypes
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reactor_runtime.http.stage import Stage
from reactor_runtime.session.descriptor import SESSION_ID

if TYPE_CHECKING:
    from reactor_runtime.recording.step_shelf import StepShelf

_RESULT = "result.json"


class StepRoutes:
    """Those of a process that keeps no results answer 404 and say why."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def routes(self) -> list[Route]:
        """Return what to mount."""
        prefix = "/sessions/{session_id}/steps"
        return [
            Route(prefix, self.steps, methods=["GET"]),
            Route(f"{prefix}/{{number}}", self.step, methods=["GET"]),
            Route(f"{prefix}/{{number}}/{{name}}", self.file, methods=["GET"]),
        ]

    async def steps(self, request: Request) -> Response:
        """List the steps of a session and their files."""
        session_id, steps = self._session(request)
        listed = [{"step": number, "files": sizes} for number, sizes in steps.items()]
        return JSONResponse({"session_id": session_id, "steps": listed})

    async def step(self, request: Request) -> Response:
        """Show the result of one step."""
        content = await self._read(request, _RESULT)
        return JSONResponse(json.loads(content))

    async def file(self, request: Request) -> Response:
        """Send one file of a step; whatever it is, a browser saves it."""
        name = request.path_params["name"]
        content = await self._read(request, name)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
        return Response(content, 200, headers, kind)

    async def _read(self, request: Request, name: str) -> bytes:
        session_id, steps = self._session(request)
        number = request.path_params["number"]
        is_number = number.isascii() and number.isdecimal() and len(number) < 10
        if not is_number or int(number) not in steps:
            raise HTTPException(404, "no such step, or none any more")
        try:
            return await run_in_threadpool(self._shelf.read, session_id, int(number), name)
        except FileNotFoundError:
            raise HTTPException(404, "no such file, or none any more") from None

    def _session(self, request: Request) -> tuple[str, dict[int, dict[str, int]]]:
        session_id = request.path_params["session_id"]
        if session_id == SESSION_ID:  # what clients call every session: the newest
            session_id = self._shelf.newest() or session_id
        found = self._shelf.find(session_id)
        if found is None:
            raise HTTPException(404, "no such session, or none any more")
        return found

    @property
    def _shelf(self) -> "StepShelf":
        if self._stage.steps is None:
            raise HTTPException(404, "step results are not kept; set runtime.step_results: true")
        return self._stage.steps
