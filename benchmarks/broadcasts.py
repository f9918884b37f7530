"""What messages to everybody do to everybody's picture: 16 viewers, 100 broadcasts a second.

python benchmarks/broadcasts.py [--viewers 16] [--rate 100] [--rounds 3] [--seconds 8]

One server, one set of viewers; quiet and talkative stretches take turns, so that both meet the same
machine. The interval between pictures is taken on the wire (as root), where the server alone
counts, and at the viewers, who receive the messages on the same loop as the pictures. The viewers
share the server's processors, which they do not in life, so they run when it has no use for them.
"""

import argparse
import contextlib
import time
from dataclasses import dataclass, field

from crowd import LIGHT_PER_PROCESS
from figures import Report, options, percentile
from rig import Server, Viewer, enter_private_network, sides
from wire import Wire

SETTLE_S = 2.0
MOST_MOVED_MS = 5


@dataclass
class Stretch:
    """What was measured with, or without, messages; times are seconds."""

    wire: list[float] = field(default_factory=list)
    viewers: list[float] = field(default_factory=list)
    fps: list[float] = field(default_factory=list)
    messages: list[float] = field(default_factory=list)
    cores: list[float] = field(default_factory=list)


def measure(args: argparse.Namespace, rounds: int, seconds: float) -> tuple[Stretch, Stretch]:
    """Return what was seen in the quiet stretches, and in the others."""
    quiet, talking = Stretch(), Stretch()
    with Wire() as wire, Server(sides(args)[0]) as server, contextlib.ExitStack() as stack:
        viewers: list[Viewer] = []
        for begun in range(0, args.viewers, LIGHT_PER_PROCESS):
            flags = ("--count", str(min(LIGHT_PER_PROCESS, args.viewers - begun)))
            session = viewers[0].first.get("session") if viewers else None
            viewers.append(Viewer(args.python, "light", *flags, session=session, niceness=19))
            stack.callback(viewers[-1].quit)
        for _ in range(rounds):
            for into, rate in ((quiet, 0), (talking, args.rate)):
                viewers[0].ask(f"broadcast {rate} 0")
                time.sleep(SETTLE_S)
                begun_at, wall, used = time.monotonic(), time.time(), server.cpu_s()
                time.sleep(seconds)
                ended_at = time.monotonic()
                into.cores.append((server.cpu_s() - used) / (ended_at - begun_at))
                into.wire += [g for gaps in wire.gaps(wall, wall + seconds) for g in gaps]
                reports = [viewer.ask(f"report {begun_at} {ended_at}") for viewer in viewers]
                into.viewers += [gap for report in reports for gap in report["gaps"]]
                into.fps.append(min(report["fps"] for report in reports))
                into.messages.append(min(report["messages"] for report in reports))
    return quiet, talking


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--viewers", type=int, default=16)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    enter_private_network()
    quick = (1, 2.0) if args.quick else (args.rounds, args.seconds)
    quiet, talking = measure(args, *quick)
    report = Report()
    report.note(f"{args.viewers} viewers at 1280x720 and 24 fps; {args.rate} messages/s to each")
    for where in ("wire", "viewers"):
        gaps = getattr(quiet, where), getattr(talking, where)
        if not all(gaps):
            report.note(f"frame interval, {where}: nothing was measured (the wire needs root)")
            continue
        report.add(f"frame interval, {where}, quiet", "ms", gaps[0])
        report.add(f"frame interval, {where}, with broadcasts", "ms", gaps[1])
        before, after = (percentile(each, 0.99) for each in gaps)
        goals = (f"<= {MOST_MOVED_MS}",) if where == "wire" else ()
        report.add("    its p99 has moved by", "ms", [after - before], *goals)
    report.add("fewest messages at a viewer", "1/s", talking.messages)
    report.add("lowest fps, quiet", "", [min(quiet.fps)])
    report.add("lowest fps, with broadcasts", "", [min(talking.fps)])
    report.add("server CPU, quiet", "cores", quiet.cores)
    report.add("server CPU, with broadcasts", "cores", talking.cores)
    report.finish(args.json)


if __name__ == "__main__":
    main()
