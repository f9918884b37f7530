from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from reactor_runtime.http.access import AccessRules
from reactor_runtime.http.app import create_app
from reactor_runtime.http.front_door import FrontDoor, tidy_path
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.metrics import Metrics

ClientOf = Callable[[Stage], AbstractAsyncContextManager[httpx.AsyncClient]]

LOCAL = "http://localhost:3000"
FOREIGN = "https://evil.example"


async def test_an_allowed_origin_is_echoed_on_answers_and_errors(
    loading: httpx.AsyncClient,
) -> None:
    for path, status in (("/health", 200), ("/nowhere", 404)):
        response = await loading.get(path, headers={"Origin": LOCAL})
        assert response.status_code == status
        assert response.headers["access-control-allow-origin"] == LOCAL
        assert "origin" in response.headers["vary"].lower()
    unavailable = await loading.post("/start_session", headers={"Origin": LOCAL})
    assert unavailable.status_code == 503
    assert unavailable.headers["access-control-allow-origin"] == LOCAL
    assert "Retry-After" in unavailable.headers["access-control-expose-headers"]


async def test_a_foreign_origin_gets_403_and_may_not_read_it(loading: httpx.AsyncClient) -> None:
    response = await loading.post("/start_session", headers={"Origin": FOREIGN})
    assert response.status_code == 403
    assert "--allow-origin" in response.json()["detail"]
    assert "access-control-allow-origin" not in response.headers


async def test_a_program_without_origin_sees_no_cross_origin_headers(
    loading: httpx.AsyncClient,
) -> None:
    response = await loading.get("/health")
    assert response.status_code == 200
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "path", ["/start_session", "/sessions/x/transport/webrtc/connections", "/"]
)
async def test_a_preflight_is_answered_on_every_route(
    loading: httpx.AsyncClient, path: str
) -> None:
    wanted = "content-type,reactor-api-version,reactor-webrtc-version,authorization"
    response = await loading.options(
        path,
        headers={
            "Origin": LOCAL,
            "Access-Control-Request-Method": "PUT",
            "Access-Control-Request-Headers": wanted,
        },
    )
    assert response.status_code == 200
    assert response.headers["access-control-allow-origin"] == LOCAL
    assert response.headers["access-control-allow-headers"] == wanted
    assert response.headers["access-control-max-age"] == "600"
    methods = response.headers["access-control-allow-methods"]
    assert {"GET", "POST", "PUT"} <= set(methods.split(", "))
    assert "access-control-allow-credentials" not in response.headers


async def test_a_foreign_preflight_is_refused(loading: httpx.AsyncClient) -> None:
    headers = {"Origin": FOREIGN, "Access-Control-Request-Method": "POST"}
    response = await loading.options("/start_session", headers=headers)
    assert response.status_code == 403
    assert "access-control-allow-origin" not in response.headers


async def test_a_preflight_into_a_private_network_is_granted(loading: httpx.AsyncClient) -> None:
    response = await loading.options(
        "/session",
        headers={
            "Origin": LOCAL,
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Private-Network": "true",
        },
    )
    assert response.headers["access-control-allow-private-network"] == "true"


async def test_a_host_that_is_not_ours_gets_421(loading: httpx.AsyncClient) -> None:
    response = await loading.get("/session", headers={"Host": "evil.example"})
    assert response.status_code == 421
    assert "--allow-host" in response.json()["detail"]


async def test_without_the_token_401_and_with_it_in(connect: ClientOf) -> None:
    stage = Stage(ServerSettings(token="s3cret"), Metrics())
    async with connect(stage) as client:
        refused = await client.get("/session")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert "s3cret" not in refused.text
        right = {"Authorization": "Bearer s3cret", "Origin": FOREIGN}
        welcome = await client.get("/session", headers=right)
        assert welcome.status_code == 200
        assert welcome.headers["access-control-allow-origin"] == FOREIGN
        assert (await client.get("/health")).status_code == 200


async def test_a_wrong_token_is_told_from_a_missing_one(connect: ClientOf) -> None:
    async with connect(Stage(ServerSettings(token="s3cret"), Metrics())) as client:
        missing = await client.get("/session")
        wrong = await client.get("/session", headers={"Authorization": "Bearer x"})
        assert (missing.status_code, wrong.status_code) == (401, 401)
        assert "is needed" in missing.json()["detail"]
        assert wrong.json() == {"detail": "the token is not right"}


async def test_a_browser_without_the_token_gets_the_page_and_a_program_a_line(
    connect: ClientOf,
) -> None:
    async with connect(Stage(ServerSettings(token="s3cret"), Metrics())) as client:
        for path in ("/", "/?token=wrong"):
            page = await client.get(path, headers={"Accept": "text/html,*/*"})
            assert page.status_code == 401
            assert page.headers["content-type"].startswith("text/html")
            assert page.headers["cache-control"] == "no-store"
            assert "frame-ancestors" in page.headers["content-security-policy"]
            line = await client.get(path)
            assert "token" in line.json()["detail"]
        other = await client.get("/session", headers={"Accept": "text/html"})
        assert "token" in other.json()["detail"]


async def test_a_trailing_slash_on_the_base_is_tolerated(loading: httpx.AsyncClient) -> None:
    for path in ("//session", "/session/", "//session//"):
        response = await loading.request("GET", f"http://localhost:8080{path}")
        assert response.status_code == 200, path


def test_the_path_is_tidied() -> None:
    assert tidy_path("/") == "/"
    assert tidy_path("//start_session/") == "/start_session"
    assert tidy_path("") == "/"


async def test_unknown_paths_and_methods_are_told_as_detail(loading: httpx.AsyncClient) -> None:
    missing = await loading.get("/sessions")
    assert (missing.status_code, missing.json()) == (404, {"detail": "Not Found"})
    wrong = await loading.get("/start_session")
    assert (wrong.status_code, wrong.json()) == (405, {"detail": "Method Not Allowed"})


async def test_an_escaped_exception_is_a_plain_500(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ValueError("secret inside")

    door = FrontDoor(broken, AccessRules(bind_host="127.0.0.1"), Metrics())
    transport = httpx.ASGITransport(door)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/x", headers={"Origin": LOCAL})
    assert (response.status_code, response.json()) == (500, {"detail": "internal error"})
    assert response.headers["access-control-allow-origin"] == LOCAL
    assert sum(record.exc_info is not None for record in caplog.records) == 1


async def test_an_exception_out_of_a_route_is_the_same(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Stage):
        def health(self) -> tuple[bool, str, str]:
            raise ValueError("secret inside")

    transport = httpx.ASGITransport(create_app(Broken(ServerSettings(), Metrics())))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        response = await client.get("/health")
    assert (response.status_code, response.json()) == (500, {"detail": "internal error"})
    assert sum(record.exc_info is not None for record in caplog.records) == 1


async def test_requests_and_refusals_are_counted(stage: Stage, connect: ClientOf) -> None:
    async with connect(stage) as client:
        await client.get("/health")
        await client.request("BREW", "/health")
        await client.get("/health", headers={"Origin": FOREIGN})
    text = stage.metrics.render().decode()
    assert 'reactor_http_requests_total{method="GET",status="200"} 1.0' in text
    assert 'reactor_http_requests_total{method="OTHER",status="405"} 1.0' in text
    assert 'reactor_http_refused_total{reason="foreign_origin"} 1.0' in text


async def test_nothing_is_kept_by_caches_or_sniffed(loading: httpx.AsyncClient) -> None:
    headers = (await loading.get("/health")).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
