"""From an error's class to a status and a body: one table for all routes."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from reactor_runtime.errors import (
    BodyTooLargeError,
    BodyTooSlowError,
    ConnectionIdError,
    ConnectionLimitError,
    FragmentError,
    IceRestartError,
    NegotiationError,
    NoNetworkError,
    NoSessionError,
    OfferError,
    PortTakenError,
    RequestShapeError,
    SessionStateError,
    SessionUnavailableError,
    StartRefusedError,
    TooManyRequestsError,
    TrackTakenError,
    UnknownConnectionError,
    UnknownSessionError,
    UnknownTrackError,
    UnknownUploadError,
    UploadConflictError,
    UploadLimitError,
    UploadRefusedError,
    UploadStorageError,
)
from reactor_runtime.http.body_limits import problem

STATUS_OF: Mapping[type[Exception], int] = {
    FragmentError: 400,
    NoSessionError: 400,
    StartRefusedError: 400,
    UploadRefusedError: 400,
    UnknownConnectionError: 404,
    UnknownSessionError: 404,
    UnknownTrackError: 404,
    UnknownUploadError: 404,
    BodyTooSlowError: 408,
    PortTakenError: 409,
    SessionStateError: 409,
    TrackTakenError: 409,
    UploadConflictError: 409,
    BodyTooLargeError: 413,
    UploadLimitError: 413,
    ConnectionIdError: 422,
    IceRestartError: 422,
    OfferError: 422,
    RequestShapeError: 422,
    TooManyRequestsError: 429,
    NegotiationError: 500,
    ConnectionLimitError: 503,
    NoNetworkError: 503,
    SessionUnavailableError: 503,
    UploadStorageError: 507,
}

_Answer = Callable[[Request, Exception], Awaitable[Response]]


async def answer_known_error(_request: Request, error: Exception) -> Response:
    """Answer an error of the table: its text as ``detail``."""
    headers = {}
    retry_after_s: int | None = getattr(error, "retry_after_s", None)
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    if isinstance(error, BodyTooSlowError):
        headers["Connection"] = "close"  # the rest of the body is not worth reading
    return JSONResponse({"detail": _detail_of(error)}, _status_of(error), headers)


async def answer_http_error(_request: Request, error: Exception) -> Response:
    """Answer what routing itself refuses: an unknown path, a method the route has not."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, error.status_code, error.headers)


async def answer_escaped_error(_request: Request, _error: Exception) -> Response:
    """Answer what nobody expected, in the form of every error; the front door logs it."""
    return JSONResponse({"detail": "internal error"}, 500)


def exception_handlers() -> dict[type[Exception] | int, _Answer]:
    """Return what to do with each error a route may raise."""
    return {
        HTTPException: answer_http_error,
        Exception: answer_escaped_error,
        **dict.fromkeys(STATUS_OF, answer_known_error),
    }


def _detail_of(error: Exception) -> object:
    """Return what is wrong: a list of problems where the request's shape is."""
    if isinstance(error, RequestShapeError):
        return error.problems
    if isinstance(error, OfferError):
        return [problem("offer_error", ("body", "sdp_offer"), str(error), None)]
    if isinstance(error, ConnectionIdError):
        where = ("path", "connection_id")
        return [problem("int_range", where, str(error), error.connection_id)]
    return str(error)


def _status_of(error: Exception) -> int:
    return next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
