"""Coming and going, again and again, leaves nothing behind and nothing in the log."""

from collections.abc import Iterator

import pytest
from tests.e2e.process_figures import holdings
from tests.e2e.serving import ROOT, WORLDS, Served, own_address, serving
from tests.e2e.wire_client import WireClient, join, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

WARM_UP, ROUNDS = 10, 40
OUTPUTS = (("main_video", "video"), ("tone", "audio"))


@pytest.fixture(params=WORLDS, ids="{} ranks".format)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(
        "painted:Painted", *WORLDS[request.param], cwd=ROOT / "tests" / "models"
    ) as served:
        yield served


async def one_round(served: Served, number: int) -> None:
    """A session: somebody watches, is told something, and leaves in one of five ways."""
    async with wire_client(served.url, *OUTPUTS) as client:
        http = client.signaling.http  # type: ignore[attr-defined]
        await until(lambda: client.frames["main_video"] and client.frames["tone"])
        if number % 5 == 0:  # the session is stopped under it
            await client.call("ask", {"text": "who"})
            await http.post("/stop_session", json={})
        elif number % 5 == 1:  # it leaves while a reply is on its way
            client.send_command("ask", {"text": "who"})
        elif number % 5 == 2:  # another one comes and goes meanwhile
            async with wire_client(served.url, *OUTPUTS, adopt=True) as second:
                await until(lambda: second.frames["main_video"])
        elif number % 5 == 3:  # it comes back under its own id, as after a cut
            again = WireClient(client.signaling, client.connection_id)  # type: ignore[arg-type]
            await join(again, *OUTPUTS)
            await until(lambda: again.frames["main_video"])
            await again.close()
        await client.close()
        if number % 5 != 0:
            await http.post("/stop_session", json={})
    served.wait_for_state("ready", timeout_s=5)


def figures(served: Served) -> dict[str, str]:
    lines = served.get("/metrics")[1].splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


async def test_forty_rounds_leave_nothing_behind(served: Served) -> None:
    pid = served.process.pid
    for number in range(WARM_UP):
        await one_round(served, number)
    before, tasks = holdings(pid), figures(served)["reactor_tasks"]
    for number in range(ROUNDS):
        await one_round(served, number)

    await until(lambda: holdings(pid).are_flat(before), 12)
    after = holdings(pid)
    assert after.resident_mb < before.resident_mb * 1.05 + 4
    await until(lambda: float(figures(served)["reactor_tasks"]) <= float(tasks), 5)
    told = figures(served)
    assert told["reactor_connections"] == told["reactor_clients"] == "0.0"
    assert told["reactor_inbox_pending"] == "0.0"
    served.stop()
    for word in ("error", "critical", "Traceback", "never retrieved", "was destroyed"):
        assert word not in served.log(), served.log()
