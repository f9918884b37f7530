"""Reading request bodies: bounded in size, time and depth, whatever the headers promise."""

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from reactor_runtime.errors import BodyTooLargeError, BodyTooSlowError, RequestShapeError

# A body that is too large is read on for a while before it is refused: a connection closed with
# bytes unread is reset, and the caller never sees the answer.
DRAINED_BYTES = 4 << 20
DRAIN_S = 1.0
MAX_ECHO_CHARS = 200
MAX_PROBLEMS = 10
_ESCAPED_SURROGATE = rb"\ud"

_Body = TypeVar("_Body", bound=BaseModel)


async def read_bytes(request: Request, limit_bytes: int, timeout_s: float) -> bytes:
    """Return the body of *request*.

    Raises:
        BodyTooLargeError: It announces, or turns out to hold, more than *limit_bytes*.
        BodyTooSlowError: It did not end within *timeout_s*.
    """
    announced = request.headers.get("content-length", "0")
    parts = request.stream()
    is_too_large = announced.isdecimal() and int(announced[:20]) > limit_bytes
    body = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            while not is_too_large and (part := await anext(parts, None)) is not None:
                body += part
                is_too_large = len(body) > limit_bytes
    except TimeoutError:
        raise BodyTooSlowError(timeout_s) from None
    if is_too_large:
        await drain(parts)
        raise BodyTooLargeError("body", limit_bytes)
    return bytes(body)


async def drain(parts: AsyncIterator[bytes]) -> None:
    """Read on and forget, within bounds, so that the sender sees the answer."""
    left = DRAINED_BYTES
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while left > 0 and (part := await anext(parts, None)) is not None:
                left -= len(part)


async def read_object(request: Request, limit_bytes: int, timeout_s: float) -> dict[str, Any]:
    """Return the JSON object in the body of *request*; an empty body is an empty object.

    Raises:
        RequestShapeError: It is no JSON, or no object, or holds a number JSON does not have or
            half a character.
        BodyTooLargeError: As ``read_bytes``.
        BodyTooSlowError: As ``read_bytes``.
    """
    body = await read_bytes(request, limit_bytes, timeout_s)
    if not body.strip():
        return {}
    try:
        value = json.loads(body, parse_constant=_no_number, parse_float=_finite)
        if _ESCAPED_SURROGATE in body.lower():
            _check_text(value)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RequestShapeError(
            [problem("json_invalid", ("body",), f"JSON decode error: {reason}", None)]
        ) from None
    if not isinstance(value, dict):
        raise RequestShapeError(
            [problem("dict_type", ("body",), "Input should be a valid dictionary", value)]
        )
    return value


def parse_as(model: type[_Body], value: dict[str, Any], place: str = "body") -> _Body:
    """Return *value*, which came in the *place* of the request, as a *model*.

    Raises:
        RequestShapeError: It does not fit, with up to ten reasons.
    """
    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)[:MAX_PROBLEMS]
        raise RequestShapeError(
            [problem(e["type"], (place, *e["loc"]), e["msg"], e["input"]) for e in found]
        ) from None


def problem(kind: str, loc: tuple[str | int, ...], text: str, found: object) -> dict[str, object]:
    """Return one entry of a 422 answer; what was found is echoed only while it is short."""
    shown: object = found
    if len(repr(found)) > MAX_ECHO_CHARS:
        shown = f"{repr(found)[:MAX_ECHO_CHARS]}…"
    return {"type": kind, "loc": list(loc), "msg": text, "input": shown}


def _check_text(value: object) -> None:
    """Refuse half a character: no answer, log line or message could hold it."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("text holds half a character (a lone surrogate)") from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:20]} is out of range")
    return value


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")
