"""The model alone, then its ranks together: the same pixels, however many share them."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parent))

import torch
from denoiser import HEIGHT, WIDTH
from sharded_diffusion import DiffusionState, ShardedDiffusion

from reactor_runtime.experimental import DistributedWorker, WorkerGroup

pytestmark = pytest.mark.torch
SEED = 7


def make_model(worker=None) -> ShardedDiffusion:
    """Return a loaded model in a session, in a worker's place in the world if there is one."""
    model = ShardedDiffusion()
    if worker is not None:
        model.rank, model.world_size = worker.rank, worker.world_size
        model.device, model.is_leader = worker.device, worker.is_leader
    model.load(None)
    model.seed, model.state = SEED, DiffusionState()
    return model


def next_rows(frames) -> torch.Tensor:
    return next(frames).main_video.part


def test_every_turn_makes_a_picture_that_moves() -> None:
    frames = make_model().inference()
    first, second = next_rows(frames), next_rows(frames)
    assert first.shape == (HEIGHT, WIDTH, 3)
    assert 0 <= first.min() < 0.2
    assert 0.8 < first.max() <= 1
    assert 0 < (second - first).abs().mean() < 0.05


@pytest.mark.parametrize(("field", "value"), [("prompt", "a coral reef"), ("seed", 1)])
def test_prompt_and_seed_make_another_picture(field: str, value: object) -> None:
    model = make_model()
    frames = model.inference()
    before = next_rows(frames)
    setattr(model.state, field, value)
    for _ in range(20):
        after = next_rows(frames)
    assert (after - before).abs().mean() > 0.1


class Painter(DistributedWorker):
    """One rank that drives the model by hand."""

    def start_session(self, params) -> None:
        self.model = make_model(self)
        self.pictures = self.model.inference()

    def generate_chunk(self, index, controls) -> int:
        steer(self.model, controls)
        self.frames[0, self.model.denoiser.rows] = next_rows(self.pictures)
        return 1


COMMANDS = [{}, {}, {"prompt": "a coral reef"}, {}, {"seed": 3}, {"speed": 4.0}, {}]


def steer(model: ShardedDiffusion, commands: dict) -> None:
    for name, value in commands.items():
        setattr(model.state, name, value)


@pytest.mark.parametrize("world_size", [2, 4])
def test_ranks_paint_together_what_one_paints_alone(world_size: int) -> None:
    alone = make_model()
    pictures = alone.inference()
    frame = {"frame_shape": (1, HEIGHT, WIDTH, 3), "frame_dtype": "float32"}
    with WorkerGroup(Painter, world_size, device="cpu", **frame) as group:
        group.start_session(seed=SEED)
        for turn, commands in enumerate(COMMANDS):
            (together,) = group.generate(turn, commands)
            steer(alone, commands)
            assert np.abs(together - next_rows(pictures).numpy()).max() < 1e-3
