"""The routes that turn an offer into a connection, for both generations of clients.

Every route first asks whether a session runs and is the one named, then looks at the rest.
"""

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from reactor_runtime.errors import BodyTooLargeError, RequestShapeError
from reactor_runtime.http.body_limits import parse_as, problem, read_object
from reactor_runtime.http.own_address import own_address_for_links
from reactor_runtime.http.signaling_bodies import CandidateBody, OfferBody
from reactor_runtime.http.stage import Stage
from reactor_runtime.webrtc.connection_ids import ALLOWED, LEGACY_ID

if TYPE_CHECKING:
    from reactor_runtime.webrtc.offer_overrides import OfferOverrides
    from reactor_runtime.webrtc.signaling import Signaling

PREFIX = "/sessions/{session_id}/transport/webrtc"

_Body = TypeVar("_Body", bound=BaseModel)


class SignalingRoutes:
    """The WebRTC routes of a session."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def routes(self) -> list[Route]:
        """Return what to mount."""
        by_id = f"{PREFIX}/connections/{{connection_id}}"
        return [
            Route(f"{PREFIX}/ice_servers", self.ice_servers, methods=["GET"]),
            Route(f"{PREFIX}/connections", self.register, methods=["POST"]),
            Route(f"{by_id}/sdp_params", self.offer, methods=["POST", "PUT"]),
            Route(f"{by_id}/sdp_params", self.answer, methods=["GET"]),
            Route(f"{by_id}/ice_candidates", self.candidates, methods=["POST"]),
            Route(f"{PREFIX}/sdp_params", self.offer, methods=["POST", "PUT"]),
            Route(f"{PREFIX}/sdp_params", self.answer, methods=["GET"]),
        ]

    async def ice_servers(self, request: Request) -> Response:
        """List the STUN and TURN servers a client should use."""
        signaling = await self._signaling(request)
        return JSONResponse({"ice_servers": signaling.ice_servers()})

    async def register(self, request: Request) -> Response:
        """Mint a connection id: 201."""
        signaling = await self._signaling(request)
        await self._object(request)
        connection_id, track_map = signaling.register()
        return JSONResponse({"connection_id": connection_id, "track_map": track_map}, 201)

    async def offer(self, request: Request) -> Response:
        """Take an offer and negotiate in the background: 202 at once."""
        signaling = await self._signaling(request)
        connection_id = _connection_id(request)
        body = await self._body(request, OfferBody)
        limit = self._stage.settings.sdp_limit_bytes
        if len(body.sdp_offer.encode("utf-8", "surrogatepass")) > limit:
            raise BodyTooLargeError("sdp_offer", limit)
        mapping = body.track_mapping
        connection = await signaling.offer(
            connection_id,
            body.sdp_offer,
            None if mapping is None else [each.model_dump() for each in mapping],
            body.client_info,
            replace=request.method == "PUT",
            overrides=_overrides(body),
        )
        connection.link_prefix = own_address_for_links(request)
        return JSONResponse({"connection_id": connection_id}, 202)

    async def answer(self, request: Request) -> Response:
        """Hand out the answer once: 200; 202 while there is none, after a short wait for it."""
        signaling = await self._signaling(request)
        connection_id = _connection_id(request)
        hold_s = 0.0 if self._stage.is_closing else self._stage.settings.answer_hold_s
        sdp = await signaling.take_answer(connection_id, hold_s)
        if sdp is None:
            return Response(status_code=202)
        return JSONResponse({"sdp_answer": sdp, "connection_id": connection_id})

    async def candidates(self, request: Request) -> Response:
        """Take ways to reach the client, before or after its offer: 202."""
        signaling = await self._signaling(request)
        connection_id = _connection_id(request)
        body = await self._body(request, CandidateBody)
        batch = [each.model_dump() for each in body.candidates]
        signaling.add_candidates(connection_id, batch, body.is_final)
        return Response(status_code=202)

    async def _signaling(self, request: Request) -> "Signaling":
        return await self._stage.need_signaling(request.path_params["session_id"])

    async def _object(self, request: Request) -> dict[str, Any]:
        settings = self._stage.settings
        return await read_object(request, settings.json_limit_bytes, settings.body_timeout_s)

    async def _body(self, request: Request, model: type[_Body]) -> _Body:
        return parse_as(model, await self._object(request))


def _connection_id(request: Request) -> int:
    """Return the id in the path, the legacy one where the path has none."""
    text = request.path_params.get("connection_id", str(LEGACY_ID))
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if number not in ALLOWED:
        wanted = "Input should be a whole number from 1001 to 9999"
        raise RequestShapeError([problem("int_range", ("path", "connection_id"), wanted, text)])
    return number


def _overrides(body: OfferBody) -> "OfferOverrides | None":
    if body.ice_servers is None and body.ice_credentials is None and body.port_range is None:
        return None
    from reactor_runtime.webrtc.offer_overrides import OfferOverrides

    return OfferOverrides(
        ice_servers=body.ice_servers,
        ice_credentials=body.ice_credentials.model_dump() if body.ice_credentials else None,
        port_range=body.port_range,
    )
