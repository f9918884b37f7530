import math
import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from reactor_runtime.media.late_gate import GateReading, LateGate

FRAME_S = 1 / 24
Draw = Callable[[random.Random, int], float]


@dataclass
class Played:
    """What a simulated viewer saw."""

    late: list[float]
    age: list[float]

    @property
    def late_share(self) -> float:
        return sum(late > 0.001 for late in self.late) / len(self.late)

    @property
    def usual_age(self) -> float:
        return sorted(self.age)[len(self.age) // 2]


def simulate(draw: Draw, *, steps: int = 4000, frames: int = 1) -> Played:
    """Run a gated model that takes what *draw* says, on simulated time."""
    rnd, gate, played = random.Random(5), LateGate(), Played([], [])
    length, now, end = FRAME_S * frames, 0.0, 0.0
    for step in range(steps):
        begun = max(now, gate.start_at(max(end, now), now)) + rnd.random() * 0.0005
        room = end - (2 * FRAME_S if frames == 1 else FRAME_S)
        now = max(begun + draw(rnd, step), room)
        late = max(0.0, now - end) if step else 0.0
        gate.note(GateReading(started_at=begun, queued_at=now, late_s=late, horizon_s=length * 3))
        shown, end = max(end, now), max(end, now) + length
        if step > 100:
            played.late.append(late)
            played.age.append(shown - begun)
    return played


def spikes(usual: float, spike: float, every: int) -> Draw:
    return lambda _, step: spike if step % every == every // 2 else usual


@pytest.mark.parametrize("took", [0.001, 0.01, 0.03])
def test_a_steady_model_is_started_just_in_time(took: float) -> None:
    played = simulate(lambda _rnd, _step: took)
    assert played.late_share == 0
    assert played.usual_age < took + 0.005


@pytest.mark.parametrize(
    "draw",
    [
        lambda rnd, _: rnd.uniform(0.005, 0.030),
        lambda rnd, _: max(0.001, rnd.gauss(0.02, 0.002)),
        lambda rnd, _: 0.035 if rnd.random() < 0.3 else 0.005,
        lambda rnd, _: 0.01 * math.exp(rnd.gauss(0, 0.5)),
        lambda rnd, _: 0.001 + rnd.expovariate(200),
        lambda _, step: 0.02 + 0.015 * math.sin(step / 200),
        spikes(0.005, 0.06, every=100),
        spikes(0.005, 0.03, every=30),
    ],
    ids=["uniform", "normal", "bimodal", "lognormal", "exponential", "drift", "spikes", "often"],
)
def test_irregular_steps_are_in_time(draw: Draw) -> None:
    assert simulate(draw).late_share < 0.006


def test_rare_long_steps_cost_themselves_and_nothing_more() -> None:
    played = simulate(spikes(0.005, 0.06, every=400))
    assert played.late_share < 0.004
    assert played.usual_age < 0.010


def test_long_steps_that_come_back_are_learned() -> None:
    played = simulate(spikes(0.005, 0.06, every=150))
    assert played.late_share < 0.004
    assert sum(played.late[len(played.late) // 2 :]) < sum(played.late[: len(played.late) // 2])


def test_chunks_are_in_time() -> None:
    played = simulate(lambda rnd, _: max(0.1, rnd.gauss(0.4, 0.02)), frames=12, steps=800)
    assert played.late_share < 0.01


def test_a_model_slower_than_its_rate_is_never_held_back() -> None:
    gate, now = LateGate(), 0.0
    for _ in range(50):
        now += 0.06
        gate.note(GateReading(started_at=now - 0.06, queued_at=now, late_s=0.02, horizon_s=0.12))
        assert gate.start_at(now + FRAME_S, now) <= now


def test_a_faster_model_is_let_go_of_its_past() -> None:
    gate = LateGate()
    for took, count in ((0.03, 150), (0.002, 100)):
        for step in range(count):
            at = 100.0 * took + step
            reading = GateReading(started_at=at, queued_at=at + took, late_s=0.0, horizon_s=0.12)
            gate.note(reading)
    assert gate.lead == pytest.approx(0.002)


def test_no_lead_is_longer_than_a_full_queue() -> None:
    gate = LateGate()
    for _ in range(5):
        gate.note(GateReading(started_at=0.0, queued_at=30.0, late_s=30.0, horizon_s=0.125))
    assert gate.lead == 0.125
