"""Open standards: playback for any WHEP player, ingest from any WHIP publisher (RFC 9725).

One request sets a connection up: an SDP offer is answered by 201, the SDP answer, and the address
of a resource that takes further candidates (PATCH) and ends the connection (DELETE).
"""

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reactor_runtime.errors import (
    OfferError,
    SessionStateError,
    SessionUnavailableError,
    TrackTakenError,
)
from reactor_runtime.http.body_limits import read_bytes
from reactor_runtime.http.stage import RETRY_AFTER_S, Stage

if TYPE_CHECKING:
    from reactor_runtime.webrtc.media_resource import MediaResource
    from reactor_runtime.webrtc.signaling import Signaling

SDP = "application/sdp"
FRAGMENT = "application/trickle-ice-sdpfrag"
ANSWER_WAIT_S = 10.0

_TAKES_SDP = frozenset({"*/*", "application/*", SDP})


class WhipRoutes:
    """Sets up connections without an SDK, and knows them until they are over."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._resources: dict[str, MediaResource] = {}

    def routes(self) -> list[Route]:
        """Return what to mount."""
        found = []
        for endpoint in ("/whep", "/whip/{track}"):
            found += [
                Route(endpoint, self.offer, methods=["POST"]),
                Route(endpoint, self.nothing, methods=["GET"]),
                Route(f"{endpoint}/{{name}}", self.trickle, methods=["PATCH"]),
                Route(f"{endpoint}/{{name}}", self.delete, methods=["DELETE"]),
                Route(f"{endpoint}/{{name}}", self.nothing, methods=["GET"]),
            ]
        return found

    async def offer(self, request: Request) -> Response:
        """Answer an offer, in a new session where none runs: 201."""
        if not _accepts_sdp(request.headers.get("accept", "*/*")):
            raise HTTPException(406, f"the answer is {SDP}")
        _require_type(request, SDP)
        sdp = await self._text(request)
        session = self._stage.need_session()
        signaling = await self._stage.need_network()
        track = request.path_params.get("track")
        try:
            plan = signaling.plan_media(sdp, track)
        except OfferError as error:
            raise HTTPException(422, str(error)) from None
        if track is not None and session.wiring.publishers.is_taken(track):
            raise TrackTakenError(track)
        if not session.state.is_running:
            try:
                await session.start_session({})
            except SessionStateError as error:
                if not session.state.is_running:  # else somebody else has just started one
                    raise SessionUnavailableError(str(error), RETRY_AFTER_S) from None
        resource = await signaling.open_media(plan)
        self._keep(resource)
        answer = await resource.answer(ANSWER_WAIT_S)
        response = Response(answer, 201, media_type=SDP)
        response.headers["Location"] = f"{request.url.path.rstrip('/')}/{resource.name}"
        response.headers["ETag"] = resource.etag
        for link in _links(signaling):
            response.headers.append("Link", link)
        return response

    async def trickle(self, request: Request) -> Response:
        """Take further candidates: 204."""
        resource = self._find(request)
        _require_type(request, FRAGMENT)
        tag = request.headers.get("if-match")
        if tag is None:
            raise HTTPException(428, "If-Match is needed, with the ETag of the answer")
        if tag not in ("*", resource.etag):
            raise HTTPException(412, "If-Match names another ICE session")
        await resource.trickle(await self._text(request))
        return Response(status_code=204)

    async def delete(self, request: Request) -> Response:
        """End a connection: 200."""
        resource = self._find(request)
        del self._resources[resource.name]
        await resource.close()
        return Response()

    async def nothing(self, request: Request) -> Response:
        """Show that the address is one: neither kind of resource has a form of its own."""
        if "name" in request.path_params:
            self._find(request)
        return Response(status_code=204)

    def _keep(self, resource: "MediaResource") -> None:
        known = {name: each for name, each in self._resources.items() if not each.is_over}
        self._resources = {**known, resource.name: resource}

    def _find(self, request: Request) -> "MediaResource":
        resource = self._resources.get(request.path_params["name"])
        if resource is None or resource.is_over:
            raise HTTPException(404, "there is no such connection, or it is over")
        return resource

    async def _text(self, request: Request) -> str:
        settings = self._stage.settings
        body = await read_bytes(request, settings.sdp_limit_bytes, settings.body_timeout_s)
        return body.decode("utf-8", "replace")


def _require_type(request: Request, wanted: str) -> None:
    if _essence(request.headers.get("content-type", "")) != wanted:
        raise HTTPException(415, f"send {wanted}")


def _accepts_sdp(accept: str) -> bool:
    return any(_essence(part) in _TAKES_SDP for part in accept.split(","))


def _essence(media_type: str) -> str:
    """Return a media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def _links(signaling: "Signaling") -> list[str]:
    """Return the STUN and TURN servers, as the values of Link headers."""
    links = []
    for server in signaling.ice_servers():
        account = server.get("credentials")
        login = ""
        if account is not None:
            name, password = _quoted(account["username"]), _quoted(account["password"])
            login = f'; username={name}; credential={password}; credential-type="password"'
        links += [f'<{uri}>; rel="ice-server"{login}' for uri in server["uris"]]
    return links


def _quoted(text: str) -> str:
    """Return *text* as a quoted string of an HTTP header."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
