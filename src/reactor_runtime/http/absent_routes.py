"""Honest answers for published routes that this server does not serve yet: clips.

Not 501: clients read that as "server too old" and give up the whole connection. A 404 reaches the
caller of the one call that failed, with the reason as its text.
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


class AbsentRoutes:
    """Refuses clips."""

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/clips", self.no_recording, methods=["GET"]),
            Route("/clips/chunks/{recording_id}/{file}", self.no_recording, methods=["GET"]),
        ]

    async def no_recording(self, _request: Request) -> Response:
        """Refuse a clip: nothing is recorded."""
        raise HTTPException(410, "no such recording; nothing is recorded here")
