"""The ladder on simulated links: what a viewer sees, how soon it falls and how soon it is back."""

import pytest
from tests.unit.webrtc.simulated_link import FPS, Conditions, SimulatedLink

from reactor_runtime.media.rung import Rung

GOOD = Conditions()
CAPPED = Conditions(bits_per_s=1.2e6)
ADAPTED_S = 8.0  # the key frame and what was lost have to pass a full link first


def test_a_good_link_is_left_alone_and_the_lower_rung_is_never_made() -> None:
    link = SimulatedLink()
    seen = link.run(60, GOOD)
    assert seen.rungs == {Rung.TOP}
    assert seen.fps == pytest.approx(FPS, abs=0.2)
    assert link.source.made[Rung.LOW] == 0
    assert link.track.counters.padding_octets == 0


@pytest.mark.parametrize(
    "bad",
    [
        CAPPED,
        Conditions(bits_per_s=1.2e6, queue_s=1.0),
        Conditions(bits_per_s=1.1e6, queue_s=0.1),
        Conditions(bits_per_s=2.5e6),
        Conditions(bits_per_s=1.5e6, loss=0.02),
        Conditions(bits_per_s=1.2e6, loss=0.01, delay_s=0.1),
        Conditions(loss=0.15),
    ],
    ids=[
        "capped", "with a long queue", "with a short queue", "capped a little",
        "capped and lossy", "capped, lossy and far", "lossy",
    ],
)  # fmt: skip
def test_a_bad_link_gets_a_picture_that_flows_and_the_whole_one_when_it_heals(
    bad: Conditions,
) -> None:
    link = SimulatedLink()
    link.run(5, GOOD)
    assert link.seconds_until(Rung.LOW, bad, limit_s=5) <= 4
    link.run(ADAPTED_S)
    seen = link.run(20)
    assert seen.rungs == {Rung.LOW}  # probes fail before a picture depends on them
    assert seen.fps > 0.85 * FPS
    assert seen.longest_gap_s < 1.5
    assert link.seconds_until(Rung.TOP, GOOD, limit_s=12) <= 10
    after = link.run(10)
    assert after.rungs == {Rung.TOP}
    assert after.fps > 0.97 * FPS


@pytest.mark.parametrize("healed_after_s", [0.5, 2.0, 3.5, 5.0, 6.5, 8.0])
def test_it_is_back_within_ten_seconds_whenever_the_link_heals(healed_after_s: float) -> None:
    link = SimulatedLink()
    link.run(5, GOOD)
    link.seconds_until(Rung.LOW, CAPPED, limit_s=5)
    link.run(12 + healed_after_s)
    assert link.seconds_until(Rung.TOP, GOOD, limit_s=12) <= 10


def test_without_an_estimate_reports_are_enough() -> None:
    link = SimulatedLink(has_estimate=False)
    link.run(5, GOOD)
    link.seconds_until(Rung.LOW, CAPPED, limit_s=5)
    link.run(ADAPTED_S)
    seen = link.run(20)
    assert (seen.rungs, seen.fps > 0.85 * FPS) == ({Rung.LOW}, True)
    assert link.seconds_until(Rung.TOP, GOOD, limit_s=12) <= 10


def test_without_a_repeat_stream_the_top_is_tried_seldom() -> None:
    link = SimulatedLink(has_rtx=False)
    link.run(5, GOOD)
    link.seconds_until(Rung.LOW, CAPPED, limit_s=5)
    link.run(60)
    assert 1 <= link.track.counters.climbs <= 5
    assert link.run(8).fps > 0.5 * FPS
    assert link.seconds_until(Rung.TOP, GOOD, limit_s=40) <= 35
