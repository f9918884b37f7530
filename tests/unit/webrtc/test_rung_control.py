"""The control of the ladder, on a table of what a viewer reports each second."""

import itertools

import pytest

from reactor_runtime.media.rung import Rung
from reactor_runtime.webrtc.rung_control import LinkReport, RungControl

GOOD = LinkReport(loss=0.0, round_trip_s=0.05)
SLOW = LinkReport(loss=0.0, round_trip_s=0.8)
LOSSY = LinkReport(loss=0.12, round_trip_s=0.05)
BROKEN = LinkReport(loss=0.6, round_trip_s=0.05)
TOP_BPS, CAP_BPS = 3_500_000.0, 1_000_000.0


class Link:
    """A viewer that reports once a second; time is a number."""

    def __init__(self, *, can_pad: bool = True) -> None:
        self.now = 100.0
        self.control = RungControl(can_pad=can_pad)
        self.sent = 0

    def is_on(self, rung: Rung) -> bool:
        return self.control.rung is rung

    @property
    def is_probed(self) -> bool:
        return self.control.padding(self.now + 0.1) > 0

    def report(self, *reports: LinkReport) -> None:
        """A second passes before each of *reports*."""
        for each in reports:
            self.now += 1.0
            self.sent += 100
            self.control.note_report(each, self.now)
            self.control.tick(self.sent, self.now)

    def until(self, rung: Rung, report: LinkReport = GOOD, *, within_s: float) -> float:
        """Report until the viewer is on *rung*, and return the seconds it took."""
        began = self.now
        while not self.is_on(rung):
            assert self.now - began < within_s, f"still {self.control.rung} after {within_s} s"
            self.report(report)
        return self.now - began

    def fall(self) -> None:
        self.report(GOOD, BROKEN)
        assert self.is_on(Rung.LOW)


@pytest.mark.parametrize(
    ("reports", "rung"),
    [
        ([GOOD] * 30, Rung.TOP),
        ([LOSSY], Rung.TOP),
        ([LOSSY, GOOD, LOSSY, GOOD], Rung.TOP),
        ([LOSSY, LOSSY], Rung.LOW),
        ([BROKEN], Rung.LOW),
        ([LinkReport(loss=0.05, round_trip_s=0.05)] * 30, Rung.TOP),
        ([GOOD, SLOW], Rung.TOP),
        ([GOOD, SLOW, SLOW], Rung.LOW),
        ([LinkReport(loss=0.0)] * 30, Rung.TOP),
    ],
    ids=[
        "a good link", "one bad second", "a bad second now and then", "two bad seconds",
        "most of it lost", "a little lost for ever", "held up once", "held up", "no round trips",
    ],
)  # fmt: skip
def test_what_a_viewer_reports_decides_its_rung(reports: list[LinkReport], rung: Rung) -> None:
    link = Link()
    link.report(*reports)
    assert link.is_on(rung)


def test_packets_held_up_do_not_count_where_the_estimate_says_there_is_room() -> None:
    link = Link()
    for _ in range(10):
        link.control.note_estimate(1.5 * TOP_BPS, TOP_BPS, link.now)
        link.report(GOOD, SLOW)
        link.report(SLOW)
    assert link.is_on(Rung.TOP)


def test_an_estimate_counts_when_it_falls_and_packets_are_held_up() -> None:
    link = Link()
    link.control.note_estimate(1.5 * TOP_BPS, TOP_BPS, link.now)
    link.report(GOOD)
    link.control.note_estimate(CAP_BPS, TOP_BPS, link.now)
    link.report(GOOD, GOOD)
    assert link.is_on(Rung.TOP)  # a busy receiver: nothing is held up
    link.control.note_estimate(0.9 * CAP_BPS, TOP_BPS, link.now)
    link.report(SLOW, SLOW)
    assert link.is_on(Rung.LOW)


def test_a_full_backlog_is_enough() -> None:
    link = Link()
    link.control.note_cut(link.now)
    assert link.is_on(Rung.LOW)


def test_a_network_that_was_away_says_nothing_of_the_rate() -> None:
    link = Link()
    link.report(GOOD)
    link.now += 5.0
    link.report(BROKEN, GOOD, GOOD)
    assert link.is_on(Rung.TOP)


def test_who_asks_for_key_frames_was_not_away_though_its_report_is_late() -> None:
    """As GStreamer begins: two reports at once, then one each four to eight seconds."""
    link = Link()
    link.report(GOOD)
    for at_s in (0.4, 4.6):
        link.control.note_report(GOOD, 101.0 + at_s)
    for quarter in range(20, 48):
        link.control.note_heard(101.0 + quarter / 4)
    link.control.note_report(BROKEN, 101.0 + 12.5)
    assert link.is_on(Rung.LOW)


def test_an_outage_ends_with_the_first_sign_of_life_and_the_next_report_is_of_it() -> None:
    link = Link()
    link.report(*[GOOD] * 5)
    link.control.note_heard(link.now + 5.0)
    link.control.note_report(BROKEN, link.now + 5.2)
    link.control.note_report(BROKEN, link.now + 6.2)
    assert link.is_on(Rung.TOP)
    link.control.note_heard(link.now + 12.0)
    link.control.note_report(BROKEN, link.now + 14.1)
    assert link.is_on(Rung.TOP)
    link.control.note_report(BROKEN, link.now + 15.1)
    assert link.is_on(Rung.LOW)


def test_one_lossy_report_is_enough_of_who_reports_seldom() -> None:
    control = RungControl(can_pad=False)
    for number in range(3):
        control.note_report(GOOD, 100.0 + 4.0 * number)
    control.note_report(LOSSY, 112.0)
    assert control.rung is Rung.LOW


@pytest.mark.parametrize("gap_s", [1.0, 2.6, 4.0, 7.0])
@pytest.mark.parametrize("can_pad", [True, False])
def test_a_viewer_that_reports_seldom_falls_and_climbs_all_the_same(
    gap_s: float, can_pad: bool
) -> None:
    control, now = RungControl(can_pad=can_pad), 100.0
    rungs = []
    for number in range(240):
        now += 1.0 / 4
        if number * 0.25 % gap_s < 0.25:
            control.note_report(BROKEN if 80 < number <= 120 else GOOD, now)
        control.tick(25 * number, now)
        rungs.append(control.rung)
    assert set(rungs[:80]) == {Rung.TOP}
    assert rungs[120] is Rung.LOW
    assert rungs[-1] is Rung.TOP


def test_a_link_that_heals_is_back_on_top_within_ten_seconds() -> None:
    link = Link()
    link.fall()
    assert link.until(Rung.TOP, within_s=10) <= 6


@pytest.mark.parametrize("bad", [LOSSY, BROKEN])
def test_also_after_a_minute_of_failed_probes(bad: LinkReport) -> None:
    link = Link()
    link.fall()
    for _ in range(60):
        link.report(bad if link.is_probed else GOOD)
        assert link.is_on(Rung.LOW)
    assert link.until(Rung.TOP, within_s=10) <= 9


def test_a_link_that_loses_all_the_time_is_not_probed() -> None:
    link = Link()
    link.fall()
    for _ in range(60):
        link.report(LOSSY)
        assert not link.is_probed
    assert link.is_on(Rung.LOW)


def test_a_probe_grows_to_what_the_next_rung_costs() -> None:
    link = Link()
    link.fall()
    while not link.is_probed:
        link.report(GOOD)
    shares = [link.control.padding(link.now + 0.25 * step) for step in range(9)]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(3.0)  # a quarter, and three more


@pytest.mark.parametrize("sign", ["loss", "estimate", "repeats"])
def test_a_probe_ends_at_the_first_sign(sign: str) -> None:
    link = Link()
    link.control.note_estimate(CAP_BPS, CAP_BPS, link.now)
    link.fall()
    while not link.is_probed:
        link.report(GOOD)
    if sign == "loss":
        link.control.note_report(LOSSY, link.now + 0.5)
    elif sign == "estimate":
        link.control.note_estimate(0.8 * CAP_BPS, 2 * CAP_BPS, link.now + 0.5)
    else:
        link.control.note_asked_again(5, link.sent + 50, link.now + 0.4)
        assert link.is_probed
        link.control.note_asked_again(5, link.sent + 60, link.now + 0.5)
    assert not link.is_probed
    assert link.is_on(Rung.LOW)


def test_silence_ends_a_probe_without_a_climb() -> None:
    link = Link()
    link.fall()
    while not link.is_probed:
        link.report(GOOD)
    for _ in range(8):
        link.now += 1.0
        link.control.tick(link.sent, link.now)
    assert link.is_on(Rung.LOW)
    assert not link.is_probed


def test_without_padding_the_next_rung_is_tried_less_and_less_often() -> None:
    link = Link(can_pad=False)
    link.fall()
    tries: list[float] = []
    for _ in range(200):
        link.report(BROKEN if link.is_on(Rung.TOP) else GOOD)
        if link.is_on(Rung.TOP):
            tries.append(link.now)
    apart = [b - a for a, b in itertools.pairwise(tries)]
    assert apart == sorted(apart)
    assert apart[-1] > 30


def test_a_stable_viewer_is_forgiven() -> None:
    link = Link()
    link.fall()
    for _ in range(20):
        link.report(BROKEN if link.is_probed else GOOD)
    link.until(Rung.TOP, within_s=10)
    link.report(*[GOOD] * 12)
    link.report(BROKEN)
    assert link.until(Rung.TOP, within_s=10) <= 6
