import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from starlette.requests import Request
from starlette.types import Message

from reactor_runtime.errors import BodyTooLargeError, BodyTooSlowError, RequestShapeError
from reactor_runtime.http.body_limits import parse_as, read_object
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.metrics import Metrics

ClientOf = Callable[[Stage], AbstractAsyncContextManager[httpx.AsyncClient]]


def request_of(*parts: bytes, ends: bool = True, announced: int | None = None) -> Request:
    """A request whose body arrives in *parts*, and then ends or never does."""
    left = list(parts)

    async def receive() -> Message:
        if left or ends:
            body = left.pop(0) if left else b""
            return {"type": "http.request", "body": body, "more_body": bool(left) or not ends}
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    headers = [] if announced is None else [(b"content-length", str(announced).encode())]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def read(request: Request, limit: int = 1000, timeout_s: float = 5.0) -> dict[str, object]:
    return await read_object(request, limit, timeout_s)


async def test_an_object_is_read() -> None:
    assert await read(request_of(b'{"a": ', b"1}")) == {"a": 1}


@pytest.mark.parametrize("body", [b"", b"  \r\n"])
async def test_an_empty_body_is_an_empty_object(body: bytes) -> None:
    assert await read(request_of(body)) == {}


@pytest.mark.parametrize("body", [b"[]", b"1", b'"x"', b"null", b"true"])
async def test_anything_but_an_object_is_refused(body: bytes) -> None:
    with pytest.raises(RequestShapeError) as caught:
        await read(request_of(body))
    problem = caught.value.problems[0]
    assert problem["type"] == "dict_type"
    assert problem["loc"] == ["body"]
    assert set(problem) == {"type", "loc", "msg", "input"}


@pytest.mark.parametrize(
    "body",
    [b"{", b"{'a': 1}", b'{"a": NaN}', b'{"a": Infinity}', b'{"a": -Infinity}', b'{"a": 1e999}',
     b"\xff\xfe", b'{"a": "\xff"}', b'{"a": ' + b"9" * 5000 + b"}", b"[" * 100_000,
     b'{"a": "\\ud800"}', b'{"\\uDC00x": 1}', b'["\\ud800"]', b'"\\uDBFF"',
     b'[{"a": ["\\ud83d"]}]'],
)  # fmt: skip
async def test_what_is_no_json_is_refused(body: bytes) -> None:
    with pytest.raises(RequestShapeError) as caught:
        await read(request_of(body), limit=1 << 20)
    assert caught.value.problems[0]["type"] == "json_invalid"


async def test_a_character_in_two_halves_is_one() -> None:
    assert await read(request_of(b'{"a": "\\uD83D\\ude00"}')) == {"a": "\U0001f600"}


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_an_object_or_a_typed_error(body: bytes) -> None:
    async def check() -> None:
        with suppress(RequestShapeError):
            assert isinstance(await read(request_of(body)), dict)

    asyncio.run(check())


async def test_a_body_that_announces_too_much_is_refused() -> None:
    with pytest.raises(BodyTooLargeError):
        await read(request_of(b"{}", announced=1001))


async def test_a_body_without_length_is_cut_when_the_limit_is_passed() -> None:
    with pytest.raises(BodyTooLargeError) as caught:
        await read(request_of(b"x" * 600, b"x" * 600))
    assert caught.value.limit_bytes == 1000


async def test_a_body_that_does_not_come_in_time_is_given_up() -> None:
    with pytest.raises(BodyTooSlowError):
        await read(request_of(b"{", ends=False), timeout_s=0.05)


def test_a_long_input_is_not_echoed_whole() -> None:
    class Wanted(BaseModel):
        number: int

    with pytest.raises(RequestShapeError) as caught:
        parse_as(Wanted, {"number": "x" * 10_000})
    problem = caught.value.problems[0]
    assert problem["loc"] == ["body", "number"]
    assert len(str(problem["input"])) < 300


# --- as clients see it ---


async def post(client: httpx.AsyncClient, content: bytes | AsyncIterator[bytes]) -> httpx.Response:
    return await client.post("/start_session", content=content)


async def test_too_large_is_413_announced_or_not(connect: ClientOf) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 65536

    async with connect(Stage(ServerSettings(), Metrics())) as client:
        announced = await post(client, b" " * ((1 << 20) + 1))
        assert announced.status_code == 413
        assert announced.json() == {"detail": "body is larger than 1048576 bytes"}
        assert (await post(client, endless())).status_code == 413
        assert (await post(client, b" " * (1 << 20))).status_code == 503  # read, and still loading


async def test_a_shape_error_is_422_with_a_list(loading: httpx.AsyncClient) -> None:
    response = await post(loading, b"[1]")
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body"]


async def test_a_stop_reason_is_at_most_64_characters(loading: httpx.AsyncClient) -> None:
    response = await loading.post("/stop_session", json={"reason": "x" * 65})
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", "reason"]
