"""Viewers who reach the server through a real TURN server and no other way, over each transport."""

import subprocess
import sys
import urllib.parse
from collections.abc import Iterator

import pytest
from tests.e2e.built_in_page import PICTURE_BEGAN
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.coturn import PASSWORD, USERNAME, Coturn, coturn, find_coturn
from tests.e2e.far_away import far_away
from tests.e2e.networks import ROUTER_FAR, ROUTER_NEAR, SERVER, Networks, networks
from tests.e2e.serving import ROOT, Served, serving
from tests.process.cli import reactor

pytestmark = [
    pytest.mark.timeout(180),
    pytest.mark.skipif(find_coturn() is None, reason="coturn is not installed"),
]
LOGIN = f"{urllib.parse.quote(USERNAME)}:{PASSWORD}"
RELAYS = {
    "udp": f"turn:{LOGIN}@{ROUTER_FAR}:3478?transport=udp",
    "tcp": f"turn:{LOGIN}@{ROUTER_FAR}:3478?transport=tcp",
    "tls": f"turns:{LOGIN}@{ROUTER_FAR}:5349?transport=tcp",
}
PATH = """reactor.peer.stats().then((report) => {
  const pair = [...report.values()].find((e) => e.type === "candidate-pair" && e.nominated);
  return [pair.localCandidateId, pair.remoteCandidateId].map((id) => report.get(id).candidateType);
})"""


@pytest.fixture(scope="module")
def net() -> Iterator[Networks]:
    with networks(forward=False) as made:
        yield made


@pytest.fixture(scope="module")
def relay(net: Networks) -> Iterator[Coturn]:
    with coturn(net.router, ROUTER_FAR) as running:
        yield running


@pytest.fixture(params=RELAYS)
def served(net: Networks, relay: Coturn, request: pytest.FixtureRequest) -> Iterator[Served]:
    """A server that a client reaches by HTTP through the router, and else only by the relay."""
    folder = ROOT / "tests" / "models"
    with serving(
        "steered:Steered", "--log-level", "debug", cwd=folder, network=net.server, host=SERVER,
        REACTOR_TURN=RELAYS[request.param], SSL_CERT_FILE=str(relay.certificate),
    ) as server:  # fmt: skip
        port = server.url.rpartition(":")[2]
        command = [sys.executable, "-m", "tests.e2e.forwards_a_port", ROUTER_NEAR, port, SERVER]
        forward = subprocess.Popen([*net.prefix(net.router), *command], cwd=ROOT)
        try:
            yield server
        finally:
            forward.kill()
            forward.wait(10)
        assert PASSWORD not in server.log()


def through_the_router(served: Served) -> str:
    return served.url.replace(SERVER, ROUTER_NEAR)


@pytest.mark.browser
@pytest.mark.skipif(find_chromium() is None, reason="Chromium is not installed")
async def test_the_page_is_served_through_a_relay(net: Networks, served: Served) -> None:
    # The certificate of the relay is the test's own.
    async with Chromium("--ignore-certificate-errors", network=net.client) as browser:
        tab = await browser.open(f"{through_the_router(served)}/")
        await tab.wait_for(PICTURE_BEGAN, 30)
        ways = await tab.evaluate(PATH)
        assert "relay" in ways
    assert "relay_not_granted" not in served.log()


@pytest.mark.sdk
def test_the_python_sdk_is_served_through_a_relay(net: Networks, served: Served) -> None:
    with far_away(net, through_the_router(served)) as viewer:
        seen = viewer.pictures("blue", 0)
        viewer.until(lambda: viewer.pictures("blue", 0) > seen + 20)


@pytest.mark.sdk
def test_a_relay_that_refuses_is_told_and_no_credential_is(net: Networks, relay: Coturn) -> None:
    """At level debug, in what the server prints and says of itself, and by the commands."""
    wrong = f"turn:{urllib.parse.quote(USERNAME)}:not/{PASSWORD}@{ROUTER_FAR}"
    folder = ROOT / "tests" / "models"
    net.forward(on=True)
    try:
        with serving(
            "steered:Steered", "--log-level", "debug", cwd=folder, network=net.server,
            host=SERVER, REACTOR_TURN=wrong,
        ) as served:  # fmt: skip
            with far_away(net, served.url):
                told = [served.get(path)[1] for path in ("/metrics", "/session", "/health")]
            log = served.log()
    finally:
        net.forward(on=False)
    refused = next(line for line in log.splitlines() if "relay_not_granted" in line)
    assert f"turn:{ROUTER_FAR}:3478?transport=udp" in refused
    assert "Unauthorized" in refused
    for command in ("check", "doctor"):
        prefix = net.prefix(net.server)
        ran = reactor(command, "steered:Steered", cwd=folder, prefix=prefix, REACTOR_TURN=wrong)
        told.append(ran.out + ran.err)
        assert ROUTER_FAR in told[-1]
    assert [text for text in (log, *told) if PASSWORD in text] == []
