"""What the denoiser starts from: noise from a seed, and a direction from a text."""

import hashlib
import math

import torch
from denoiser import CHANNELS, HEIGHT, HIDDEN, WIDTH
from torch import Tensor
from torch.nn import functional


class Noise:
    """Smooth noise that turns: the same seed and angle, the same noise on every rank."""

    def __init__(self, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        coarse = torch.randn(2, CHANNELS, 5, 8, generator=generator)
        fields = functional.interpolate(coarse, (HEIGHT, WIDTH), mode="bicubic")
        self._one, self._other = fields.permute(0, 2, 3, 1)

    def at(self, angle: float) -> Tensor:
        """Return one picture's noise, (HEIGHT, WIDTH, CHANNELS)."""
        return math.cos(angle) * self._one + math.sin(angle) * self._other


def embed(text: str) -> Tensor:
    """Return a direction for *text*, (HIDDEN,): each word has its own, they add up."""
    words = text.lower().split() or [""]
    return sum(map(_word, words)) / math.sqrt(len(words))


def _word(word: str) -> Tensor:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:7], "big")
    return torch.randn(HIDDEN, generator=torch.Generator().manual_seed(seed))
