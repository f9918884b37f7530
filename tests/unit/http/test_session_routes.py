import httpx

from reactor_runtime.http.stage import Stage

SID = "00000000-0000-0000-0000-000000000000"


async def test_a_start_while_loading_is_503_and_says_when_to_come_back(
    loading: httpx.AsyncClient,
) -> None:
    response = await loading.post("/start_session", json={})
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert response.json() == {"detail": "the model is loading"}


async def test_a_start_on_the_way_out_is_503_for_good(
    stage: Stage, loading: httpx.AsyncClient
) -> None:
    stage.close()
    response = await loading.post("/start_session")
    assert response.status_code == 503
    assert "retry-after" not in response.headers


async def test_the_descriptor_while_loading_has_no_capabilities(loading: httpx.AsyncClient) -> None:
    response = await loading.get("/session")
    assert response.status_code == 200
    body = response.json()
    assert body["state"] == "created"
    assert body["model"] == {"name": ""}
    assert "capabilities" not in body


async def test_the_schema_while_loading_is_empty(loading: httpx.AsyncClient) -> None:
    assert (await loading.get("/schema")).json() == {}


async def test_without_a_session_every_session_route_is_400(loading: httpx.AsyncClient) -> None:
    root = f"/sessions/{SID}/transport/webrtc"
    for method, path in (
        ("GET", f"{root}/ice_servers"),
        ("POST", f"{root}/connections"),
        ("POST", f"{root}/connections/5000/sdp_params"),
        ("PUT", f"{root}/connections/77/sdp_params"),  # before the id is looked at
        ("GET", f"{root}/connections/5000/sdp_params"),
        ("POST", f"{root}/connections/5000/ice_candidates"),
        ("POST", f"{root}/sdp_params"),
        ("POST", f"/sessions/{SID}/uploads"),
    ):
        response = await loading.request(method, path, content=b"not json")
        assert response.status_code == 400, path
        assert response.json() == {"detail": "No session running"}


async def test_what_is_not_served_yet_is_told_in_a_way_clients_survive(
    loading: httpx.AsyncClient,
) -> None:
    assert (await loading.put("/uploads/abc", content=b"x")).status_code == 404
    assert (await loading.get("/sessions/x/steps")).status_code == 404
