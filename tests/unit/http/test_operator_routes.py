import httpx

from reactor_runtime.http.stage import Stage


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
