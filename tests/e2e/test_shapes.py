"""Every way to write a body, each over WebRTC with the public Python SDK."""

import json
from collections.abc import Iterator

import pytest
from tests.e2e.serving import ROOT, Served, own_address, serving

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
BODIES = ("StepBody", "GeneratorBody", "AsyncGeneratorBody", "TurnsBody", "FreeBody")


@pytest.fixture(scope="module", params=BODIES)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    target = f"breaks_on_demand:{request.param}"
    with serving(target, "--log-format", "json", cwd=ROOT / "tests" / "models") as served:
        yield served


async def test_a_body_plays_is_steered_answers_and_tells_everybody(served: Served) -> None:
    served.wait_for_state("ready")
    async with viewing(served.url) as first:
        await first.frames(3)
        assert await first.reactor.send_command("set_color", {"color": "blue"}) is None
        await first.see("blue")
        reply = await first.reactor.send_command("ask", {"text": "who"})
        assert reply == {"type": "answer", "data": {"text": "WHO"}}
        async with viewing(served.url, first.reactor.session_id) as second:
            await second.frames(1)  # the SDK is ready a moment before the server knows of it
            await first.reactor.send_command("tell_all", {"text": "hear"})
            for viewer in (first, second):
                assert await viewer.message("said") == {"text": "hear"}
        assert first.errors == []


async def test_a_body_that_raises_is_told_and_the_next_session_works(served: Served) -> None:
    served.wait_for_state("ready")
    before = served.log()
    async with viewing(served.url) as viewer:
        await viewer.frames(3)
        await viewer.reactor.send_command("break_body", {})
        await viewer.until(lambda: any("ValueError" in error for error in viewer.errors), 3)
    served.wait_for_state("ready", timeout_s=3)
    lines = [json.loads(line) for line in served.log()[len(before) :].splitlines() if "{" in line]
    (failure,) = [line for line in lines if line["level"] == "error"]
    assert "broke on purpose" in failure["exception"]
    (started,) = [line for line in lines if line["event"] == "session_started"]
    assert failure["session"] == started["session"]
    async with viewing(served.url) as viewer:
        await viewer.frames(3)
        await viewer.see("red")
        assert viewer.errors == []
