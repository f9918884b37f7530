"""The control plane's door: who may come in, with how much, and what it makes of rubbish."""

import contextlib
import json
import pickle
import queue
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.bomb import pickled_bomb

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError
from reactor_runtime.launcher.agent_messages import Beat, NodeOffer, Terms
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.control_link import ControlLink
from reactor_runtime.launcher.control_program import ControlProgram
from reactor_runtime.listening_socket import open_sockets

TOKEN = "a-token-for-tests-only"
OFFER = NodeOffer(
    agent_id="a", incarnation="1", host_id="h", address="10.0.0.1", interface="eth0", procs=1
)
REPORT = {
    "agent_id": "a",
    "incarnation": "1",
    "job_id": "j-1",
    "attempt_id": "j-1.1",
    "node_rank": 0,
    "number": 1,
}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    listeners = open_sockets("127.0.0.1", 0)
    program = ControlProgram(state=tmp_path / "s", outputs=tmp_path / "o", token=TOKEN)
    with program.in_background(listeners):
        yield f"http://127.0.0.1:{listeners[0].getsockname()[1]}"
    assert "control-plane" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize("token", [None, "wrong", TOKEN + "x", ""])
def test_without_the_token_nothing_is_told_or_taken(url: str, token: str | None) -> None:
    stranger = ControlClient(url, token)
    for call in (stranger.jobs, lambda: stranger.register(OFFER), lambda: stranger.cancel("j-1")):
        with pytest.raises(ControlPlaneError) as caught:
            call()
        assert caught.value.status == 401
    assert ControlClient(url, TOKEN).jobs() == []


def test_an_agent_that_is_not_known_is_asked_to_register(url: str) -> None:
    client = ControlClient(url, TOKEN)
    beat = Beat(agent_id="a", incarnation="1")
    assert client.beat(beat) is None
    assert client.register(OFFER) == Terms(heartbeat_s=1.0, control_timeout_s=300.0)
    answer = client.beat(beat)
    assert answer is not None
    assert answer.stop == ()
    assert client.orders(beat, -1, 5).tasks == ()


def test_a_held_request_for_orders_is_answered_at_once_when_something_changes(url: str) -> None:
    client = ControlClient(url, TOKEN)
    client.register(OFFER)
    beat = Beat(agent_id="a", incarnation="1")
    before = client.orders(beat, -1, 0).version
    answers: queue.SimpleQueue[int] = queue.SimpleQueue()
    held = threading.Thread(target=lambda: answers.put(client.orders(beat, before, 20).version))
    began = time.monotonic()
    held.start()
    with pytest.raises(queue.Empty):
        answers.get(timeout=0.3)  # it is held
    client.register(OFFER.model_copy(update={"agent_id": "b"}))
    assert answers.get(timeout=60) != before
    assert time.monotonic() - began < 15  # else it was let go when its time was up
    held.join(10)


def test_a_job_whose_source_was_not_sent_is_refused(url: str) -> None:
    job = DistributedJob(name="j", entrypoint="t.py")
    with pytest.raises(ControlPlaneError, match="has not been sent"):
        ControlClient(url, TOKEN).submit(job, "0" * 64)


@pytest.mark.parametrize("path", ["/v1/agents", "/v1/beats", "/v1/reports", "/v1/jobs"])
def test_rubbish_is_refused_and_runs_nothing(url: str, path: str, tmp_path: Path) -> None:
    link = ControlLink(url, TOKEN)
    marker = tmp_path / "marker"
    for body in (
        pickled_bomb(marker),
        b"",
        b"{",
        b"[]",
        b'{"agent_id": "../x"}',
        b"\0" * 99,
    ):
        with pytest.raises(ControlPlaneError) as caught:
            link.ask("POST", path, body)
        assert caught.value.status == 422
    assert not marker.exists()


@pytest.mark.parametrize(
    ("path", "body", "text"),
    [
        ("/v1/beats", {"agent_id": "a", "incarnatio": "b"}, "a known one: incarnation?"),
        ("/v1/beats", {"agent_id": 3, "incarnation": "b"}, "agent_id: found 3; wanted text"),
        ("/v1/jobs", {"job": {"name": "j"}}, "job.entrypoint: found nothing; wanted a value"),
        (
            "/v1/jobs",
            {"job": {"name": "j", "entrypoint": "t.py", "num_worker": 2}},
            "job.num_worker: found an unknown key; wanted a known one: job.num_workers?",
        ),
        (
            "/v1/reports",
            {**REPORT, "body": {"kind": "delivered", "unmatche": []}},
            "an unknown key; wanted a known one: body.delivered.unmatched?",
        ),
        (
            "/v1/reports",
            {**REPORT, "body": {"kind": "ended", "outcome": "lost"}},
            "found the text 'lost'; wanted succeeded, failed or cancelled",
        ),
    ],
)
def test_a_mistake_in_a_body_is_found_and_wanted(
    url: str, path: str, body: dict[str, object], text: str
) -> None:
    with pytest.raises(ControlPlaneError, match=re.escape(text)):
        ControlLink(url, TOKEN).ask("POST", path, json.dumps(body))


def test_a_body_past_its_cap_is_refused(url: str) -> None:
    with pytest.raises((ControlPlaneError, ControlPlaneAbsentError)):
        ControlLink(url, TOKEN).ask("POST", "/v1/jobs", b" " * (1024**2 + 1))
    assert ControlClient(url, TOKEN).jobs() == []


def test_raw_bytes_on_the_port_hurt_nobody(url: str) -> None:
    host, _, port = url.removeprefix("http://").partition(":")
    for words in (pickle.dumps([1]), b"\xff" * 512, (1 << 30).to_bytes(8, "little") + b"x"):
        with socket.create_connection((host, int(port)), timeout=5) as raw:
            raw.sendall(words)
            raw.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while raw.recv(4096):
                    pass
    assert ControlClient(url, TOKEN).jobs() == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/agents/a/orders?since=x&hold_s=0",
        "/v1/agents/a/orders?since=0&hold_s=-1",
        "/v1/attempts/a/nodes/0/log?offset=-5",
        f"/v1/attempts/a/nodes/0/log?offset={'9' * 40}",
    ],
)
def test_a_number_that_is_none_is_refused(url: str, path: str) -> None:
    with pytest.raises(ControlPlaneError, match="wanted a whole number") as caught:
        ControlLink(url, TOKEN).ask("GET", path)
    assert caught.value.status == 400


def test_a_second_agent_of_a_name_is_refused(url: str) -> None:
    client = ControlClient(url, TOKEN)
    client.register(OFFER)
    with pytest.raises(ControlPlaneError, match="start this one with another --name") as caught:
        client.register(OFFER.model_copy(update={"incarnation": "2"}))
    assert caught.value.status == 409
    client.register(OFFER)


@pytest.mark.parametrize("name", ["../../x", "a/../../../x"])
def test_an_output_cannot_leave_its_folder(url: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x")
    with pytest.raises((ControlPlaneError, ControlPlaneAbsentError)):
        ControlClient(url, TOKEN).files.send_output("j-1", 0, name, file)


def test_nobody_there_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ControlPlaneAbsentError, match="no control plane at"):
        ControlClient(f"http://127.0.0.1:{port}").jobs()


def test_the_launcher_unpickles_nothing() -> None:
    folder = Path(__file__).parents[3] / "src" / "reactor_runtime" / "launcher"
    guilty = [p.name for p in folder.glob("*.py") if "pickle" in p.read_text()]
    assert guilty == []
