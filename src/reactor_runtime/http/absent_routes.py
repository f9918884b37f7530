"""Honest answers for published routes that this server does not serve yet: files and clips.

Not 501: clients read that as "server too old" and give up the whole connection. A 404 reaches the
caller of the one call that failed, with the reason as its text.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reactor_runtime.http.stage import Stage


class AbsentRoutes:
    """Refuses uploads and clips, in the order in which a server that has them would check."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/sessions/{session_id}/uploads", self.no_uploads, methods=["POST"]),
            Route("/uploads/{upload_id}", self.no_upload, methods=["PUT"]),
            Route("/clips", self.no_recording, methods=["GET"]),
            Route("/clips/chunks/{recording_id}/{file}", self.no_recording, methods=["GET"]),
        ]

    async def no_uploads(self, request: Request) -> Response:
        """Refuse to reserve an upload."""
        self._stage.require(request.path_params["session_id"])
        raise HTTPException(404, "this server takes no uploads")

    async def no_upload(self, _request: Request) -> Response:
        """Refuse a file: nobody can have reserved it."""
        raise HTTPException(404, "Unknown upload")

    async def no_recording(self, _request: Request) -> Response:
        """Refuse a clip: nothing is recorded."""
        raise HTTPException(410, "no such recording; nothing is recorded here")
