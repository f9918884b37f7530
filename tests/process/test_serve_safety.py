"""What a stranger on the network can reach, and what that does."""

import json
import pickle
import re
import secrets
import socket
import struct
import urllib.request
from pathlib import Path

import pytest
from tests.bomb import pickled_bomb
from tests.e2e.process_figures import holdings, listening
from tests.e2e.serving import ROOT, Served, serving

MODEL = "tests.models.breaks_in_load:BreaksInLoad"
SOURCE = ROOT / "src" / "reactor_runtime"


def send(port: int, request: bytes) -> bytes:
    """Send *request* and return what comes back until the server has had enough."""
    with socket.create_connection(("127.0.0.1", port), timeout=15) as stranger:
        answer = b""
        try:
            stranger.sendall(request)
            while part := stranger.recv(65536):
                answer += part
        except ConnectionError:
            pass
        return answer


@pytest.fixture(scope="module")
def served() -> object:
    with serving(MODEL, "--log-level", "debug", REACTOR_TOKEN="s3cret-token") as served:
        yield served


def test_only_the_port_asked_for_is_open_and_only_on_loopback(served: Served) -> None:
    port = int(served.url.rpartition(":")[2])
    assert listening(served.process.pid) == {("127.0.0.1", port)}


def test_the_bomb_of_these_tests_goes_off(tmp_path: Path) -> None:
    pickle.loads(pickled_bomb(tmp_path / "marker"))
    assert (tmp_path / "marker").exists()


def test_strangers_bytes_are_refused_and_do_nothing(served: Served, tmp_path: Path) -> None:
    port = int(served.url.rpartition(":")[2])
    bomb = pickled_bomb(tmp_path / "marker")
    before = holdings(served.process.pid).resident_mb
    for junk in (
        bomb,
        struct.pack(">I", len(bomb)) + bomb,
        struct.pack(">Q", 1 << 30) + b"x" * 1000,
        secrets.token_bytes(300_000),
        b"\0" * 300_000,
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 50_000,
    ):
        answer = send(port, junk + b"\r\n\r\n")
        assert not answer or answer.startswith(b"HTTP/1.1 400 ")
    for body in (bomb, b"x" * 500_000):
        head = f"POST /start_session HTTP/1.1\r\nHost: localhost\r\nContent-Length: {1 << 30}\r\n"
        assert b" 401 " in send(port, f"{head}\r\n".encode() + body)[:20]
    assert not (tmp_path / "marker").exists()
    assert holdings(served.process.pid).resident_mb - before < 20
    assert served.get("/health")[0] == 200


def test_a_token_is_needed_and_never_written_down(served: Served) -> None:
    for path in ("/session", "/schema", "/metrics", "/events", "/"):
        assert served.get(path)[0] == 401, path
        assert served.get(f"{path}?token=wrong")[0] == 401, path
    assert served.get("/session?token=s3cret-token")[0] == 401
    request = urllib.request.Request(
        served.url + "/session", headers={"Authorization": "Bearer s3cret-token"}
    )
    with urllib.request.urlopen(request, timeout=5) as response:
        assert json.loads(response.read())["state"] == "ready"
    with urllib.request.urlopen(f"{served.url}/?token=s3cret-token", timeout=5) as response:
        assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "s3cret-token" not in served.log()


def test_nothing_of_ours_makes_objects_or_code_of_bytes() -> None:
    risky = re.compile(
        r"\b(pickle|marshal|shelve|dill|cloudpickle|jsonpickle)\b"
        r"|yaml\.(unsafe_load|full_load|load)\(|(?<![.\w])(eval|exec)\("
    )
    parts = (
        "http",
        "session",
        "wire",
        "webrtc",
        "media",
        "uploads",
        "recording",
    )  # what strangers' bytes pass through
    found = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for part in parts
        for path in (SOURCE / part).rglob("*.py")
        for line in path.read_text().splitlines()
        if risky.search(line.partition("#")[0])
    ]
    assert found == []
