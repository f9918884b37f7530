"""FrontDoor: what every request passes before a route sees it, and every response after.

It tidies the path, applies the access rules, answers preflights, puts the cross-origin headers on
every response, errors included, turns an escaped exception into a plain 500, and counts.
"""

from collections.abc import Callable
from dataclasses import replace

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reactor_runtime.http.access import AccessRules, Approach, Verdict
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics

METHODS = "GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS"
PREFLIGHT_MAX_AGE_S = 600
LIGHT_BYTES = 64 << 10
REQUEST_HEADERS = (
    "authorization, content-type, reactor-api-version, reactor-api-accept-version, "
    "reactor-webrtc-version, last-event-id, if-match"
)
EXPOSED_HEADERS = "Retry-After, Location, ETag, Link, Content-Range"

_TAKES_OFFERS = ("/whep", "/whip/")
_COUNTED_METHODS = frozenset(METHODS.split(", "))
_REFUSALS = {
    Verdict.WRONG_HOST: (
        421,
        "this server is not reached by that name; start it with --allow-host NAME to let it in",
    ),
    Verdict.FOREIGN_ORIGIN: (
        403,
        "pages from that origin may not call this server; start it with --allow-origin ORIGIN "
        "to let them in",
    ),
    Verdict.NO_TOKEN: (
        401,
        "a token is needed: send it as 'Authorization: Bearer TOKEN', or in the server's address, "
        "http://reactor:TOKEN@HOST:PORT",
    ),
    Verdict.WRONG_TOKEN: (401, "the token is not right"),
}

log = get_logger(__name__)


class FrontDoor:
    """The outermost ASGI application.

    Args:
        app: What lies behind.
        rules: Who may pass.
        metrics: Where requests are counted.
        locked_page: What a browser without the token sees in the page's place.
    """

    def __init__(
        self,
        app: ASGIApp,
        rules: AccessRules,
        metrics: Metrics,
        locked_page: Callable[[], Response] | None = None,
    ) -> None:
        self._app = app
        self._locked_page = locked_page
        self._rules = rules
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return  # nothing else is configured to arrive
        scope = {**scope, "path": tidy_path(scope["path"])}
        headers = Headers(scope=scope)
        approach = approach_of(scope, headers)
        verdict = self._rules.judge(approach)
        origin = _visible_origin(verdict, approach.origin)
        reply = _Reply(send, origin, ends_connection=_is_heavy(headers))
        if verdict in _REFUSALS:
            self._metrics.http_refused.labels(verdict.value).inc()
            answer = self._refusal(verdict, approach, headers)
            await answer(scope, receive, reply.send)
        elif approach.method == "OPTIONS":
            await _preflight(headers, approach.path)(scope, receive, reply.send)
        else:
            await self._run(scope, receive, reply)
        method = approach.method if approach.method in _COUNTED_METHODS else "OTHER"
        self._metrics.http_requests.labels(method, str(reply.status)).inc()

    def _refusal(self, verdict: Verdict, approach: Approach, headers: Headers) -> Response:
        status, detail = _REFUSALS[verdict]
        is_page = (approach.method, approach.path) == ("GET", "/")
        if status == 401 and is_page and self._locked_page and _reads_pages(headers):
            return self._locked_page()
        challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        return JSONResponse({"detail": detail}, status, challenge)

    async def _run(self, scope: Scope, receive: Receive, reply: "_Reply") -> None:
        try:
            await self._app(scope, receive, reply.send)
        except ClientDisconnect:
            return  # it left in mid-body: nobody is there to answer
        except Exception:
            log.exception("http_request_failed", method=scope["method"], path=scope["path"])
            if reply.status == 0:
                await JSONResponse({"detail": "internal error"}, 500)(scope, receive, reply.send)


class _Reply:
    """The way back to the caller; adds the headers that every response carries."""

    def __init__(self, send: Send, origin: str | None, *, ends_connection: bool) -> None:
        self._send = send
        self._origin = origin
        self._ends_connection = ends_connection
        self.status = 0

    async def send(self, message: Message) -> None:
        """Pass on *message*."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=list(message.get("headers", [])))
            headers.add_vary_header("Origin")
            headers["X-Content-Type-Options"] = "nosniff"
            headers.setdefault("Cache-Control", "no-store")
            if self._ends_connection:
                headers["Connection"] = "close"
            if self._origin is not None:
                headers["Access-Control-Allow-Origin"] = self._origin
                headers["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
            message = {**message, "headers": headers.raw}
        await self._send(message)


def tidy_path(path: str) -> str:
    """Return *path* with one leading slash and none at its end: a base URL may end with one."""
    return "/" + path.strip("/")


def approach_of(scope: Scope, headers: Headers) -> Approach:
    """Return what the access rules look at."""
    authorization = headers.get("authorization")
    approach = Approach(
        method=scope["method"],
        path=scope["path"],
        query=scope["query_string"],
        host=headers.get("host"),
        origin=headers.get("origin"),
        authorization=authorization.encode("latin-1") if authorization is not None else None,
    )
    asks = "access-control-request-method" in headers
    return replace(approach, is_preflight=approach.method == "OPTIONS" and asks)


def _is_heavy(headers: Headers) -> bool:
    """Return whether the body may be large: what a route leaves of it would be read for ever."""
    length = headers.get("content-length", "0")
    is_large = not length.isdecimal() or int(length[:20]) > LIGHT_BYTES
    return is_large or "transfer-encoding" in headers


def _reads_pages(headers: Headers) -> bool:
    return "text/html" in headers.get("accept", "")


def _visible_origin(verdict: Verdict, origin: str | None) -> str | None:
    """Return the origin that may read the response: none that the rules turn away."""
    return None if verdict in {Verdict.WRONG_HOST, Verdict.FOREIGN_ORIGIN} else origin


def _preflight(headers: Headers, path: str) -> Response:
    wanted = headers.get("access-control-request-headers", "")
    answer = {
        "Allow": METHODS,
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": wanted or REQUEST_HEADERS,
        "Access-Control-Max-Age": str(PREFLIGHT_MAX_AGE_S),
    }
    if path.startswith(_TAKES_OFFERS):
        answer["Accept-Post"] = "application/sdp"
    if headers.get("access-control-request-private-network") == "true":
        answer["Access-Control-Allow-Private-Network"] = "true"
    return Response(status_code=200, headers=answer)
