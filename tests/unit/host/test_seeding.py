import random

import numpy as np
import pytest

from reactor_runtime.host.seeding import seed_generators


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


@pytest.mark.torch
def test_torch_draws_the_same_after_the_same_seed() -> None:
    torch = pytest.importorskip("torch")
    seed_generators(9)
    first = torch.rand(3)
    seed_generators(9)
    assert torch.equal(torch.rand(3), first)
