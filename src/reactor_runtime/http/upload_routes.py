"""Files that clients send beside their channels: reserve a place, then send the bytes there."""

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reactor_runtime.errors import BodyTooSlowError, ReactorError, UnknownUploadError
from reactor_runtime.http.body_limits import drain, parse_as, read_object
from reactor_runtime.http.own_address import own_address
from reactor_runtime.http.stage import Stage
from reactor_runtime.uploads.upload import UploadSpec
from reactor_runtime.uploads.upload_ledger import mint_id


class UploadBody(BaseModel):
    """What is said of a file before it is sent. Unknown keys are ignored."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    name: str
    size: int
    mime_type: str
    upload_id: str | None = None


class UploadRoutes:
    """A file's address is a secret of 128 random bits: whoever has it may send the file, once."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def routes(self) -> list[Route]:
        """Return what to mount."""
        return [
            Route("/sessions/{session_id}/uploads", self.reserve, methods=["POST"]),
            Route("/uploads/{slot}", self.receive, methods=["PUT"]),
        ]

    async def reserve(self, request: Request) -> Response:
        """Reserve a place for a file: 201, and where to send it."""
        uploads = self._stage.need_uploads(request.path_params["session_id"])
        settings = self._stage.settings
        body = await read_object(request, settings.json_limit_bytes, settings.body_timeout_s)
        wanted = parse_as(UploadBody, body)
        upload_id = mint_id() if wanted.upload_id is None else wanted.upload_id
        spec = UploadSpec(
            upload_id=upload_id, name=wanted.name, mime_type=wanted.mime_type, size=wanted.size
        )
        upload = await uploads.reserve(spec)
        path = f"uploads/{upload.slot}"
        url = f"{own_address(request)}/{path}"
        answer = {"presigned_id": upload_id, "presigned_url": url, "path": path}
        return JSONResponse(answer, 201)

    async def receive(self, request: Request) -> Response:
        """Take the bytes of a file: 200 and nothing."""
        pieces = request.stream()
        try:
            session = self._stage.session
            if session is None:
                raise UnknownUploadError
            slot = request.path_params["slot"]
            await session.wiring.uploads.receive(slot, _announced(request), pieces)
        except ReactorError as error:
            waits_for_word = request.headers.get("expect", "").lower() == "100-continue"
            if not (waits_for_word or isinstance(error, BodyTooSlowError)):
                await drain(pieces)
            raise
        return Response()


def _announced(request: Request) -> int | None:
    """Return how many bytes the sender says there are, ``None`` when it does not say."""
    length = request.headers.get("content-length", "")
    return int(length[:20]) if length.isdecimal() else None
