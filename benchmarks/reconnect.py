"""A viewer whose network fails for five seconds: how soon it sees again, once it is back.

    python benchmarks/reconnect.py [--rounds 3]

Client, router and server are in three network namespaces (so it needs root and iproute2). The link
is unplugged, swallows packets in silence, or the client loses its address; viewers are the public
Python SDK and, where Chromium is installed, the page.
"""

import asyncio
import sys
import time
from pathlib import Path

import pytest
from figures import Report, options

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.e2e.chromium import Chromium, find_chromium
from tests.e2e.far_away import FarAway, far_away
from tests.e2e.networks import SERVER, Cut, Networks, networks
from tests.e2e.serving import ROOT, serving

CUT_S, SETTLE_S, DEADLINE_S = 5.0, 2.0, 30.0
GOAL = "<= 1"
MODELS = ROOT / "tests" / "models"
SHOWN = (
    "document.querySelector('.tile.is-main.has-picture video')"
    "?.getVideoPlaybackQuality().totalVideoFrames ?? 0"
)


def sdk(net: Networks, cut: Cut, rounds: int) -> list[float]:
    """Return seconds from the network's return to the next picture in the SDK's callback."""
    with (
        serving("steered:Steered", cwd=MODELS, network=net.server, host=SERVER) as served,
        far_away(net, served.url) as viewer,
    ):
        return [_sdk_once(net, cut, viewer) for _ in range(rounds)]


def _sdk_once(net: Networks, cut: Cut, viewer: FarAway) -> float:
    time.sleep(SETTLE_S)
    with net.cut(cut):
        time.sleep(CUT_S)
        back = time.time()
    viewer.until(lambda: viewer.first_picture(back) is not None)
    return (viewer.first_picture(back) or back) - back


async def page(net: Networks, cut: Cut, rounds: int) -> list[float]:
    """Return seconds from the network's return to the next picture the page has played."""
    with serving("tests.models.painted:Painted", network=net.server, host=SERVER) as served:
        async with Chromium(network=net.client) as browser:
            tab = await browser.open(f"{served.url}/")
            times = []
            for _ in range(rounds):
                await tab.wait_for(f"({SHOWN}) > 20", DEADLINE_S)
                await asyncio.sleep(SETTLE_S)
                with net.cut(cut):
                    await asyncio.sleep(CUT_S)
                    last = await tab.evaluate(SHOWN)
                    back = time.monotonic()
                # A page that has connected anew counts from 0 again.
                await tab.wait_for(f"({SHOWN}) !== {last} && ({SHOWN}) > 0", DEADLINE_S)
                times.append(time.monotonic() - back)
    return times


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rounds, report = 1 if args.quick else args.rounds, Report()
    try:
        with networks() as net:
            for cut in Cut:
                report.add(f"Python SDK, {cut}: first picture", "s", sdk(net, cut, rounds), GOAL)
            if find_chromium() is None:
                report.note("The page was not measured: Chromium is not installed.")
            for cut in Cut if find_chromium() else ():
                times = asyncio.run(page(net, cut, rounds))
                report.add(f"page, {cut}: first picture", "s", times, GOAL)
    except pytest.skip.Exception as reason:
        report.note(f"Not measured: it {reason}.")
    report.finish(args.json)


if __name__ == "__main__":
    main()
