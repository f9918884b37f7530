import random

import numpy as np
import pytest

from reactor_runtime.seeding import seed_all_generators, seed_generators


def test_numpy_draws_the_same_after_the_same_seed() -> None:
    seed_generators(2**40 + 7)
    first = np.random.random(3).tolist()
    seed_generators(2**40 + 7)
    assert np.random.random(3).tolist() == first


def test_the_global_random_is_the_servers() -> None:
    random.seed(1)
    state = random.getstate()
    seed_generators(5)
    assert random.getstate() == state


@pytest.mark.parametrize("seed", [0, 7, 2**70])
def test_a_process_of_the_models_own_seeds_all(seed: int) -> None:
    drawn = []
    for _ in range(2):
        seed_all_generators(seed)
        drawn.append((random.random(), float(np.random.random())))
    assert drawn[0] == drawn[1]


@pytest.mark.torch
def test_torch_draws_the_same_after_the_same_seed() -> None:
    torch = pytest.importorskip("torch")
    seed_generators(9)
    first = torch.rand(3)
    seed_generators(9)
    assert torch.equal(torch.rand(3), first)
