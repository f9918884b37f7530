"""The HTTP surface as clients know it: paths, statuses and bodies, letter by letter.

The session and the signalling are real; only the model is not.
"""

import asyncio
import json
import re
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from tests.unit.session.room import Room
from tests.unit.webrtc.offers import application, offer, video

from reactor_runtime import __version__
from reactor_runtime.clock import SystemClock
from reactor_runtime.http.app import create_app
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.model.tracks import TrackDirection
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.webrtc.signaling import Signaling
from reactor_runtime.webrtc.web_rtc_settings import IceServer, WebRtcSettings

SID = "00000000-0000-0000-0000-000000000000"
W = f"/sessions/{SID}/transport/webrtc"
STUN = IceServer(uris=("stun:stun.example:3478",))
TURN = IceServer(uris=("turn:turn.example:3478",), username="u", credential="c")
REACHABLE = "a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host\r\na=end-of-candidates\r\n"
OFFER = offer(video("0"), application("1")) + REACHABLE


@dataclass
class Served:
    """A client of the application, and what is behind it."""

    http: httpx.AsyncClient
    room: Room
    signaling: Signaling
    stage: Stage

    async def start(self) -> None:
        assert (await self.http.post("/start_session", json={})).status_code == 200

    async def register(self) -> int:
        return int((await self.http.post(f"{W}/connections", json={})).json()["connection_id"])


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    settings = SessionSettings(
        model_name="painter", model_description="Paints what you say.", start_wait_s=0.2
    )
    room = Room(settings)
    stream = LiveStream(
        [track for track in room.host.contract.tracks if track.direction is TrackDirection.OUT],
        settings=MediaSettings(),
        clock=SystemClock(),
        metrics=room.metrics,
    )
    stream.start(asyncio.get_running_loop())
    signaling = Signaling(
        room.session,
        stream,
        room.host.contract.tracks,
        settings=WebRtcSettings(max_connections=2, gather_timeout_s=0.05),
    )
    room.session.on_session_end = signaling.close_all
    stage = Stage(ServerSettings(answer_hold_s=0.2), room.metrics)
    stage.open(room.session)
    stage.connect(signaling)
    await room.ready()
    transport = httpx.ASGITransport(create_app(stage), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as http:
        yield Served(http, room, signaling, stage)
    await room.session.close()
    await signaling.close_all("the test is over")
    stream.stop()


# --- the session ---


async def test_the_descriptor(served: Served) -> None:
    seed = 2**63 - 1
    response = await served.http.post("/start_session", json={"seed": seed, "steps": 7})
    assert response.status_code == 200
    assert response.json() == {
        "session_id": SID,
        "seed": seed,
        "steps": 7,
        "state": "waiting",
        "cluster": "local",
        "model": {"name": "painter"},
        "server_info": {"server_version": __version__},
        "selected_transport": {"protocol": "webrtc", "version": "1.0"},
        "transports": [{"protocol": "webrtc", "version": "1.0"}],
        "recording": {"enabled": False, "chunk_seconds": 0},
        "step_results": {"enabled": False},
        "generation": "streamed",
        "session_number": 1,
        "capabilities": {
            "protocol_version": "v0",
            "tracks": [
                {"name": "main_video", "kind": "video", "direction": "recvonly"},
                {"name": "webcam", "kind": "video", "direction": "sendonly"},
            ],
            "commands": [],
        },
    }
    again = await served.http.get("/session")
    assert (again.status_code, again.json()) == (200, response.json())


@pytest.mark.parametrize("body", [b"", b"{}", b'{"extra_args": {"a": 1}, "unknown": 2}'])
async def test_what_a_start_may_hold(served: Served, body: bytes) -> None:
    assert (await served.http.post("/start_session", content=body)).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"generation": "stepped"},
        {"generation": "x"},
        {"session_id": 1},
        {"steps": 0},
        {"starting_input": {"x": 1}},
        {"seed": -1},
    ],
)
async def test_a_start_for_what_is_not_served_is_400_and_changes_nothing(
    served: Served, body: dict[str, Any]
) -> None:
    refused = await served.http.post("/start_session", json=body)
    assert refused.status_code == 400
    assert next(iter(body)) in refused.json()["detail"]
    assert (await served.http.get("/session")).json()["state"] == "ready"
    assert (await served.http.get("/health")).json()["state"] == "available"
    await served.start()


async def test_a_drawn_seed_is_told_and_gone_with_its_session(served: Served) -> None:
    await served.start()
    seed = (await served.http.get("/session")).json()["seed"]
    assert 0 <= seed < 2**32
    await served.http.post("/stop_session")
    await served.room.state(SessionState.READY)
    assert "seed" not in (await served.http.get("/session")).json()


async def test_a_second_start_is_409_and_hurts_nobody(served: Served) -> None:
    await served.start()
    refused = await served.http.post("/start_session", json={})
    assert refused.status_code == 409
    assert refused.json()["detail"] == (
        f'a session is running: stop it first, or join it with connect(session_id="{SID}")'
    )
    health = await served.http.get("/health")
    assert (health.status_code, health.json()["state"]) == (200, "serving")
    assert (await served.http.get(f"{W}/ice_servers")).status_code == 200


async def test_a_session_that_fails_as_it_starts_does_not_make_the_server_ill(
    served: Served,
) -> None:
    served.room.host.start_error = "ValueError"
    failed = await served.http.post("/start_session", json={})
    assert failed.status_code == 503
    assert "ValueError" in failed.json()["detail"]
    served.room.host.start_error = ""
    await served.room.state(SessionState.READY)
    assert (await served.http.get("/health")).status_code == 200
    await served.start()


async def test_stop_is_200_and_empty_and_once(served: Served) -> None:
    nothing = await served.http.post("/stop_session")
    assert nothing.status_code == 409
    await served.start()
    stopped = await served.http.post("/stop_session", json={"reason": "done", "moderate": False})
    assert (stopped.status_code, stopped.content) == (200, b"")
    assert (await served.http.post("/stop_session")).status_code == 409
    assert (await served.http.post("/stop_session", json={"moderate": "no"})).status_code == 422


async def test_health(served: Served) -> None:
    for path in ("/health", "/health/live", "/health/ready"):
        response = await served.http.get(path)
        assert response.status_code == 200
        body = response.json()
        assert set(body) == {"status", "state", "detail"}
        assert (body["status"], body["state"]) == ("healthy", "available")


async def test_a_lost_model_is_unhealthy_and_starts_nothing(served: Served) -> None:
    await served.room.session.close()
    health = await served.http.get("/health")
    assert health.status_code == 503
    assert (health.json()["status"], health.json()["state"]) == ("unhealthy", "terminated")
    refused = await served.http.post("/start_session", json={})
    assert refused.status_code == 503
    assert "retry-after" not in refused.headers


async def test_the_schema_is_the_models_own(served: Served) -> None:
    document = (await served.http.get("/schema")).json()
    assert document["openapi"] == "3.1.0"
    assert document["info"] == {
        "title": "painter",
        "version": "v0.0.0",
        "description": "Paints what you say.",
    }
    assert "/events/echo" in document["paths"]


# --- signalling ---


async def test_ice_servers(served: Served) -> None:
    await served.start()
    assert (await served.http.get(f"{W}/ice_servers")).json() == {"ice_servers": []}


async def test_ice_servers_with_credentials_for_turn_only(served: Served) -> None:
    signaling = Signaling(
        served.room.session, None, (), settings=WebRtcSettings(ice_servers=(STUN, TURN))
    )
    served.stage.connect(signaling)
    await served.start()
    assert (await served.http.get(f"{W}/ice_servers")).json() == {
        "ice_servers": [
            {"uris": ["stun:stun.example:3478"]},
            {
                "uris": ["turn:turn.example:3478"],
                "credentials": {"username": "u", "password": "c"},
            },
        ]
    }


@pytest.mark.parametrize("body", [b"", b"{}"])
async def test_a_connection_is_registered(served: Served, body: bytes) -> None:
    await served.start()
    response = await served.http.post(f"{W}/connections", content=body)
    assert response.status_code == 201
    made = response.json()
    assert 5000 <= made["connection_id"] <= 9999
    assert made["track_map"] == {
        "main_video": {"kind": "video", "direction": "out", "rate": None},
        "webcam": {"kind": "video", "direction": "in", "rate": None},
    }


async def test_an_offer_is_202_and_its_answer_is_handed_out_once(served: Served) -> None:
    await served.start()
    connection_id = await served.register()
    path = f"{W}/connections/{connection_id}/sdp_params"
    mapping = [{"mid": "0", "name": "main_video", "kind": "video", "direction": "recvonly", "x": 1}]
    body = {
        "sdp_offer": OFFER,
        "client_info": {"sdk_version": "1.13.0", "sdk_type": "python"},
        "track_mapping": mapping,
    }
    for method in ("POST", "PUT"):
        accepted = await served.http.request(method, path, json=body)
        assert (accepted.status_code, accepted.json()) == (202, {"connection_id": connection_id})
        answered = await served.http.get(path)
        assert answered.status_code == 200
        assert set(answered.json()) == {"sdp_answer", "connection_id"}
        assert answered.json()["connection_id"] == connection_id
        assert answered.json()["sdp_answer"].startswith("v=0")
        taken = await served.http.get(path)
        assert (taken.status_code, taken.content) == (202, b"")


async def test_the_older_path_needs_no_connection_id(served: Served) -> None:
    await served.start()
    for method in ("POST", "PUT"):
        accepted = await served.http.request(method, f"{W}/sdp_params", json={"sdp_offer": OFFER})
        assert accepted.status_code == 202
        answered = await served.http.get(f"{W}/sdp_params")
        assert answered.status_code == 200
        assert answered.json()["sdp_answer"].startswith("v=0")


async def test_candidates_may_come_before_the_offer(served: Served) -> None:
    await served.start()
    line = "candidate:1 1 udp 2130706431 127.0.0.1 5000 typ host"
    one = {"candidate": line, "sdp_mid": "0", "sdp_mline_index": 0}
    path = f"{W}/connections/7777/ice_candidates"
    for body in (
        {"candidates": [one], "is_final": False, "client_info": {}},
        {"candidates": [], "is_final": True},
        {"candidates": [{"candidate": "", "sdp_mid": None, "sdp_mline_index": None}]},
    ):
        response = await served.http.post(path, json=body)
        assert (response.status_code, response.content) == (202, b"")


async def test_the_session_is_looked_at_before_anything_else(served: Served) -> None:
    routes = [
        ("GET", "ice_servers"),
        ("POST", "connections"),
        ("POST", "connections/77/sdp_params"),
        ("PUT", "connections/x/sdp_params"),
        ("GET", "connections/5000/sdp_params"),
        ("POST", "connections/5000/ice_candidates"),
        ("POST", "sdp_params"),
        ("PUT", "sdp_params"),
        ("GET", "sdp_params"),
    ]
    for method, path in routes:
        response = await served.http.request(method, f"{W}/{path}", content=b"junk")
        assert (response.status_code, response.json()) == (400, {"detail": "No session running"})
    await served.start()
    for method, path in routes:
        other = f"/sessions/other/transport/webrtc/{path}"
        response = await served.http.request(method, other, content=b"junk")
        assert (response.status_code, response.json()) == (404, {"detail": "Unknown session"})


@pytest.mark.parametrize("connection_id", ["1000", "10000", "0", "-5000", "x", "5e3", "\u0665000"])
async def test_ids_outside_their_range_are_422(served: Served, connection_id: str) -> None:
    await served.start()
    for method, path in (
        ("POST", "sdp_params"),
        ("GET", "sdp_params"),
        ("POST", "ice_candidates"),
    ):
        response = await served.http.request(method, f"{W}/connections/{connection_id}/{path}")
        assert response.status_code == 422
        (problem,) = response.json()["detail"]
        assert problem["loc"] == ["path", "connection_id"]
        assert set(problem) == {"type", "loc", "msg", "input"}


async def test_an_id_nobody_offered_under_has_no_answer(served: Served) -> None:
    await served.start()
    assert (await served.http.get(f"{W}/connections/6000/sdp_params")).status_code == 404


@pytest.mark.parametrize(
    ("body", "loc"),
    [
        ({}, ["body", "sdp_offer"]),
        ({"sdp_offer": 1}, ["body", "sdp_offer"]),
        ({"sdp_offer": "not sdp"}, ["body", "sdp_offer"]),
        ({"sdp_offer": OFFER, "track_mapping": [{"mid": "0"}]},
         ["body", "track_mapping", 0, "name"]),
        ({"sdp_offer": OFFER, "ice_credentials": {"ufrag": "abc", "pwd": "p" * 22}},
         ["body", "ice_credentials", "ufrag"]),
        ({"sdp_offer": OFFER, "port_range": [0, 5]}, ["body", "port_range", 0]),
        ({"sdp_offer": OFFER, "port_range": [6, 5]}, ["body"]),
    ],
)  # fmt: skip
async def test_a_bad_offer_is_422(served: Served, body: dict[str, Any], loc: list[Any]) -> None:
    await served.start()
    response = await served.http.post(f"{W}/connections/5000/sdp_params", json=body)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == loc


async def test_an_offer_too_large_is_413(served: Served) -> None:
    await served.start()
    path = f"{W}/connections/5000/sdp_params"
    large = await served.http.post(path, json={"sdp_offer": OFFER + "a=x\r\n" * 60_000})
    assert (large.status_code, large.json()) == (
        413,
        {"detail": "sdp_offer is larger than 262144 bytes"},
    )
    huge = await served.http.post(path, content=b" " * ((1 << 20) + 1))
    assert (huge.status_code, huge.json()) == (413, {"detail": "body is larger than 1048576 bytes"})


async def test_too_many_candidates_at_once_are_422(served: Served) -> None:
    await served.start()
    batch = [{"candidate": ""}] * 257
    path = f"{W}/connections/5000/ice_candidates"
    assert (await served.http.post(path, json={"candidates": batch})).status_code == 422
    assert (await served.http.post(path, json={"candidates": batch[1:]})).status_code == 202


async def test_past_the_limit_of_connections_an_offer_is_503(served: Served) -> None:
    await served.start()
    for connection_id, status in ((5001, 202), (5002, 202), (5003, 503), (5001, 202)):
        path = f"{W}/connections/{connection_id}/sdp_params"
        response = await served.http.put(path, json={"sdp_offer": OFFER})
        assert response.status_code == status, connection_id


async def test_the_request_for_an_answer_is_held_until_there_is_one(served: Served) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        server = IceServer(uris=(f"stun:127.0.0.1:{silent.getsockname()[1]}",))
        settings = WebRtcSettings(ice_servers=(server,), gather_timeout_s=0.15)
        signaling = Signaling(served.room.session, None, (), settings=settings)
        served.stage.connect(signaling)
        await served.start()
        path = f"{W}/connections/5000/sdp_params"
        body = {"sdp_offer": offer(application("0")) + REACHABLE}
        assert (await served.http.post(path, json=body)).status_code == 202
        held = await served.http.get(path)
        assert (held.status_code, held.json()["connection_id"]) == (200, 5000)
        await signaling.close_all("the test is over")


# --- operators ---


async def test_events_are_told_and_told_again(served: Served) -> None:
    await served.start()
    await served.http.post("/stop_session", json={"reason": "done"})
    await served.room.state(SessionState.READY)
    served.stage.close()  # streams end once they have told what there is
    whole = await served.http.get("/events", params={"since": 0})
    assert whole.headers["content-type"].startswith("text/event-stream")
    blocks = whole.text.removesuffix("\n\n").split("\n\n")
    events = []
    for number, block in enumerate(blocks, 1):
        first, second = block.split("\n")
        assert first == f"id: {number}"
        events.append(json.loads(second.removeprefix("data: ")))
    assert {"type", "event", "from", "to", "ts", "detail"} == set(events[0])
    moves = [(e["event"], e["from"], e["to"]) for e in events if e["from"] != e["to"]]
    assert moves == [
        ("initialization_success", "created", "ready"),
        ("start_session", "ready", "waiting"),
        ("stop_session", "waiting", "closing"),
        ("cleanup_complete", "closing", "ready"),
    ]
    last = str(len(events) - 1)
    for ask in ({"params": {"since": last}}, {"headers": {"Last-Event-ID": last}}):
        tail = await served.http.get("/events", **ask)  # type: ignore[arg-type]
        assert tail.text == f"{blocks[-1]}\n\n"
    assert (await served.http.get("/events", headers={"Last-Event-ID": "x"})).text == ""


async def test_metrics_count_sessions(served: Served) -> None:
    await served.start()
    text = (await served.http.get("/metrics")).text
    assert "reactor_sessions_started_total 1.0" in text
    assert 'reactor_session_state{state="waiting"} 1.0' in text


# --- files ---

FILE = {"name": "a.png", "size": 3, "mime_type": "image/png"}


async def reserve(served: Served, **change: Any) -> httpx.Response:
    return await served.http.post(f"/sessions/{SID}/uploads", json={**FILE, **change})


async def test_a_file_is_reserved_and_sent(served: Served) -> None:
    await served.start()
    reserved = await reserve(served)
    body = reserved.json()
    assert reserved.status_code == 201
    assert set(body) == {"presigned_id", "presigned_url", "path"}
    assert re.fullmatch("[0-9a-f]{32}", body["presigned_id"])
    assert re.fullmatch("http://localhost:8080/uploads/[0-9a-f]{32}", body["presigned_url"])
    sent = await served.http.put(
        body["presigned_url"], content=b"abc", headers={"Content-Type": "image/png"}
    )
    assert (sent.status_code, sent.content) == (200, b"")
    again = await served.http.put(body["presigned_url"], content=b"abc")
    assert (again.status_code, again.json()) == (409, {"detail": "this file has been sent already"})
    other = await served.http.post(
        f"/sessions/{SID}/uploads", json=FILE, headers={"Host": "127.0.0.1:9"}
    )
    assert other.json()["presigned_url"].startswith("http://127.0.0.1:9/uploads/")


async def test_an_id_of_the_callers_own_is_taken_once_and_is_not_the_address(
    served: Served,
) -> None:
    await served.start()
    body = (await reserve(served, upload_id="mine")).json()
    assert body["presigned_id"] == "mine"
    assert "mine" not in body["presigned_url"]
    assert (await served.http.put("/uploads/mine", content=b"abc")).status_code == 404
    taken = await reserve(served, upload_id="mine")
    assert (taken.status_code, taken.json()) == (409, {"detail": "this upload_id is taken"})


async def test_where_files_are_not_taken(served: Served) -> None:
    unstarted = await reserve(served)
    assert (unstarted.status_code, unstarted.json()) == (400, {"detail": "No session running"})
    await served.start()
    wrong = await served.http.post("/sessions/other/uploads", json=FILE)
    assert (wrong.status_code, wrong.json()) == (404, {"detail": "Unknown session"})
    nowhere = await served.http.put("/uploads/" + "0" * 32, content=b"abc")
    assert (nowhere.status_code, nowhere.json()) == (404, {"detail": "Unknown upload"})
    assert (await served.http.get("/uploads/" + "0" * 32)).status_code == 405


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"name": ""}, 400),
        ({"mime_type": ""}, 400),
        ({"size": 0}, 400),
        ({"size": -3}, 400),
        ({"size": 1 << 60}, 413),
        ({"size": "3"}, 422),
        ({"size": True}, 422),
        ({"size": None}, 422),
        ({"name": 3}, 422),
        ({"upload_id": ["a"]}, 422),
        ({"upload_id": ""}, 400),
    ],
)
async def test_what_is_said_of_a_file_must_be_right(
    served: Served, change: dict[str, Any], status: int
) -> None:
    await served.start()
    assert (await reserve(served, **change)).status_code == status


@pytest.mark.parametrize("body", [b"ab", b"abcd", b""])
async def test_a_file_of_another_size_is_400_and_may_be_sent_right(
    served: Served, body: bytes
) -> None:
    await served.start()
    url = (await reserve(served)).json()["presigned_url"]
    assert (await served.http.put(url, content=body)).status_code == 400
    assert (await served.http.put(url, content=b"abc")).status_code == 200


async def test_clips_are_refused_for_their_callers_only(served: Served) -> None:
    await served.start()
    clips = await served.http.get("/clips", params={"session_id": "x", "start": 0, "end": 1})
    assert clips.status_code == 410
