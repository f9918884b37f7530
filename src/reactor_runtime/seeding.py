"""Seeding the random number generators a model draws from."""

import random
import sys

import numpy as np


def seed_generators(seed: int) -> None:
    """Seed numpy's global generator, and torch's where torch is loaded.

    ``random`` is left alone: in process it is shared with the server.
    """
    np.random.seed(seed % 2**32)
    if (torch := sys.modules.get("torch")) is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed % 2**63)


def seed_all_generators(seed: int) -> None:
    """Seed ``random`` too, in a process that is the model's alone."""
    random.seed(seed)
    seed_generators(seed)
