import asyncio

import httpx
from tests.unit.http.conftest import ClientOf

from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.metrics import Metrics


async def test_while_loading_the_process_is_healthy_but_not_ready(
    loading: httpx.AsyncClient,
) -> None:
    for path in ("/health", "/health/live"):
        response = await loading.get(path)
        assert response.status_code == 200
        body = response.json()
        assert (body["status"], body["state"]) == ("healthy", "loading")
        assert body["detail"]
    ready = await loading.get("/health/ready")
    assert ready.status_code == 503
    assert ready.json()["status"] == "unhealthy"


async def test_metrics_are_prometheus_text(loading: httpx.AsyncClient) -> None:
    response = await loading.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; version=1.0.0; charset=utf-8"
    assert "# TYPE reactor_sessions_started_total counter" in response.text


async def test_a_bad_since_is_422(loading: httpx.AsyncClient) -> None:
    for since in ("x", "-1", "1.5", "", "9" * 30):
        response = await loading.get("/events", params={"since": since})
        assert response.status_code == 422, since
        assert response.json()["detail"][0]["loc"] == ["query", "since"]


async def test_a_stream_opened_while_loading_ends_with_the_server(
    stage: Stage, loading: httpx.AsyncClient
) -> None:
    stage.close()
    response = await loading.get("/events")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text == ""


async def test_of_streams_that_are_opened_at_once_no_more_are_let_in_than_may_be(
    connect: ClientOf,
) -> None:
    stage = Stage(ServerSettings(max_event_streams=3), Metrics())
    async with connect(stage) as client:
        asked = [asyncio.create_task(client.get("/events")) for _ in range(10)]
        done: set[asyncio.Task[httpx.Response]] = set()
        async with asyncio.timeout(20):
            while len(done) < 7:
                await asyncio.sleep(0)
                done = {task for task in asked if task.done()}
        assert {task.result().status_code for task in done} == {503}
        assert b"reactor_event_streams 3.0" in stage.metrics.render()
        stage.close()
        answers = [response.status_code for response in await asyncio.gather(*asked)]
    assert sorted(answers) == [200] * 3 + [503] * 7
    assert b"reactor_event_streams 0.0" in stage.metrics.render()
