"""Two viewers, one of whom loses its good link for a while: what each of them sees.

python benchmarks/congestion.py [--kind sdk] [--cap 1200000] [--loss 0.02] [--bad 25]

Both are reached through a relay; that of the second caps, delays and drops packets in the middle
part. A freeze is a gap between two pictures of more than a quarter of a second.
"""

import argparse
import contextlib
import itertools
import re
import sys
import threading
import time
import urllib.request
from dataclasses import dataclass

from figures import Report, options
from rig import ADDRESS, HERE, URL, Server, Viewer, enter_private_network, sides

sys.path.insert(0, str(HERE.parent))

from tests.e2e.bad_link import HEALTHY, BadLink, Shape

FREEZE_S = 0.25
SETTLE_S = 4.0
DEADLINE_S = 30.0
_ON_LOW = re.compile(r'^reactor_rung_viewers\{rung="low",track="main_video"\} (\S+)$', re.MULTILINE)


def viewers_on_low() -> int:
    """Return how many viewers get the lower rung."""
    with urllib.request.urlopen(URL + "/metrics", timeout=5) as response:
        found = _ON_LOW.search(response.read().decode())
    return int(float(found[1])) if found else 0


class Ladder(threading.Thread):
    """Notes when the number of viewers on the lower rung changes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.changes: list[tuple[float, int]] = [(time.monotonic(), 0)]
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            count = viewers_on_low()
            if count != self.changes[-1][1]:
                self.changes.append((time.monotonic(), count))

    def last(self, count: int, since: float) -> float:
        """Return the seconds from *since* to the last change to *count*."""
        times = [at for at, of in self.changes if of == count and at >= since]
        return times[-1] - since if times else float("nan")

    def first(self, count: int, since: float) -> float:
        """Return the seconds from *since* to the first change to *count*."""
        times = [at for at, of in self.changes if of == count and at >= since]
        return times[0] - since if times else float("nan")


@dataclass
class Part:
    """One stretch of the run, and what had reached each viewer before it."""

    name: str
    began: float
    octets: list[int]


def stretches(args: argparse.Namespace) -> list[tuple[str, Shape, float]]:
    """Return the parts of the run: a name, what the second viewer's link does, and seconds."""
    bad = Shape(bits_per_s=args.cap, queue_s=0.3, delay_s=0.02, loss=args.loss)
    good_s, bad_s = (3.0, 6.0) if args.quick else (args.good, args.bad)
    return [("good", HEALTHY, good_s), ("bad", bad, bad_s), ("healed", HEALTHY, good_s)]


def show(report: Report, parts: list[Part], viewers: list[Viewer]) -> None:
    """Add what each viewer saw in each part."""
    for part, after in itertools.pairwise(parts):
        seconds = after.began - part.began
        for index, who in enumerate(("first", "second")):
            seen = viewers[index].ask(f"report {part.began} {after.began}")
            megabits = 8e-6 * (after.octets[index] - part.octets[index]) / seconds
            frozen = [gap for gap in seen["gaps"] if gap > FREEZE_S]
            report.add(f"the {who}, second link {part.name}: fps", "", [seen["fps"]])
            report.add("    bitrate", "Mbit/s", [megabits])
            report.add("    freezes", "", [float(len(frozen))])
            report.add("    longest", "s", [max(frozen, default=0.0)])


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--kind", default="sdk", choices=["sdk", "light"])
    parser.add_argument("--cap", type=float, default=1_200_000, help="bits per second")
    parser.add_argument("--loss", type=float, default=0.02)
    parser.add_argument("--good", type=float, default=15, help="seconds")
    parser.add_argument("--bad", type=float, default=25, help="seconds")
    args = parser.parse_args()
    enter_private_network()
    report, parts, ladder = Report(), list[Part](), Ladder()
    with (
        Server(sides(args)[0]),
        BadLink(URL, ADDRESS) as first,
        BadLink(URL, ADDRESS) as second,
        contextlib.ExitStack() as stack,
    ):
        good = Viewer(args.python, args.kind, url=first.url)
        stack.callback(good.quit)
        bad = Viewer(args.python, args.kind, session=good.first.get("session"), url=second.url)
        stack.callback(bad.quit)
        ladder.start()
        time.sleep(SETTLE_S)
        for name, shape, seconds in (*stretches(args), ("end", HEALTHY, 0.0)):
            second.become(shape)
            parts.append(Part(name, time.monotonic(), [first.octets, second.octets]))
            time.sleep(seconds)
        ladder.over.set()
        ladder.join()
        show(report, parts, [good, bad])
    report.note(
        f"the second link: {args.cap / 1e6:g} Mbit/s, {100 * args.loss:g} % lost, 20 ms each way"
    )
    report.add("on the lower rung after", "s", [ladder.first(1, parts[1].began)])
    report.add("back on the top after", "s", [ladder.last(0, parts[2].began)], "<= 10")
    report.finish(args.json)


if __name__ == "__main__":
    main()
