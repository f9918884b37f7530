"""Sessions started with an input, a seed and a number of steps; seen by the public Python SDK."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.serving import Served, own_address, serving

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from reactor_sdk import Reactor, ReactorError
from tests.e2e.sdk_viewer import viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
RANKS = ("--world-size", "2", "--no-init-process-group", "--check-lockstep")
STEPS = 60


@pytest.fixture(scope="module", params=[(), RANKS], ids=["in_process", "two_ranks"])
def server(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving("tests.models.starts_anywhere:StartsAnywhere", *request.param) as served:
        yield served


def start(server: Served, **body: object) -> dict[str, Any]:
    server.wait_for_state("ready")
    asked = urllib.request.Request(f"{server.url}/start_session", json.dumps(body).encode())
    with urllib.request.urlopen(asked, timeout=20) as answer:
        described: dict[str, Any] = json.loads(answer.read())
        return described


def described(server: Served) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(server.get("/session")[1])
    return found


async def test_a_session_begins_as_asked_and_ends_itself_after_its_steps(server: Served) -> None:
    given = {
        "state": {"color": "blue"},
        "commands": [
            {"command": "add", "data": {"words": ["a"]}},
            {"command": "add", "data": {"words": ["b", "c"]}},
        ],
    }
    seed = 2**63 - 1
    first = start(server, starting_input=given, seed=seed, steps=STEPS)
    assert (first["seed"], first["steps"]) == (seed, STEPS)
    assert first["starting_input"] == {"applied": 3}
    async with viewing(server.url, first["session_id"]) as viewer:
        told = await viewer.message("began")
        assert told == {"words": ["a", "b", "c"], "seed": str(seed)}
        server.wait_for_state("ready", timeout_s=20)
        channels = [max(range(3), key=p.__getitem__) for _, p in viewer.pictures]
        assert set(channels) == {2}  # blue from the first picture on
        # The first ones are gone before the viewer's decoder has its key frame.
        assert STEPS - 8 <= len(channels) <= STEPS
    assert described(server)["ending"]["reason"] == f"the session was to have {STEPS} steps: done"
    log = server.log()
    assert "error" not in log, log
    again = start(server)
    assert "steps" not in again
    assert 0 <= again["seed"] < 2**32
    async with viewing(server.url, again["session_id"]) as viewer:
        await viewer.see("red")
        assert (await viewer.message("began"))["words"] == []
        await viewer.frames(STEPS + 10)
    stop(server)


def stop(server: Served) -> None:
    urllib.request.urlopen(
        urllib.request.Request(f"{server.url}/stop_session", b"{}", method="POST"), timeout=10
    ).close()
    server.wait_for_state("ready")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"state": {"color": "mauve"}}, "starting_input.state.color: set_color.color: "),
        ({"commands": [{"command": "refuse"}]}, "starting_input.commands[0]: too_early: not yet"),
    ],
)
async def test_a_start_that_the_model_refuses_is_400_and_the_next_one_works(
    server: Served, given: dict[str, object], said: str
) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        start(server, starting_input=given)
    assert refusal.value.code == 400
    assert json.loads(refusal.value.read())["detail"].startswith(said)
    refusal.value.close()
    server.wait_for_state("ready")
    async with viewing(server.url) as viewer:
        await viewer.see("red")
    server.wait_for_state("ready")


async def test_a_stepped_session_is_refused_with_a_reason(server: Served) -> None:
    server.wait_for_state("ready")
    client = Reactor("any", local=True, api_url=server.url, generation="stepped")
    try:
        with pytest.raises(ReactorError) as refusal:
            await client.connect()
    finally:
        client.close()
    assert refusal.value.code == "BAD_REQUEST"
    assert "stepped sessions are not served" in str(refusal.value)
    assert server.state() == "ready"
