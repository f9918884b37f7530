"""A small denoiser, sequence-parallel: pixels are the sequence, and each rank has its own rows.

Its weights are random, nobody trained it: it makes something of noise, but nothing you could name.
"""

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional

HEIGHT, WIDTH = 144, 256
CHANNELS, HIDDEN, KEYS = 3, 16, 8
LAYERS, STEPS = 3, 3
WEIGHTS = 4  # the seed they are drawn from, on every rank


class Layer(nn.Module):
    """Linear attention of every pixel to all pixels, then a wave that the prompt bends."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(HIDDEN, KEYS), nn.Linear(HIDDEN, KEYS)
        self.value, self.mix = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.bend = nn.Linear(HIDDEN, HIDDEN)

    def summarize(self, pixels: Tensor) -> Tensor:
        """Return what *pixels* have to say, (KEYS, HIDDEN + 1); that of several parts adds up."""
        values = functional.pad(self.value(pixels), (0, 1), value=1.0)  # a column to count by
        rows = self.key(pixels).exp().mT @ values
        return rows.sum(dim=0, dtype=torch.float64)  # exact enough for any order to be the same

    def forward(self, pixels: Tensor, summary: Tensor, condition: Tensor) -> Tensor:
        heard = self.query(pixels).exp() @ summary.float()
        heard = heard[..., :-1] / heard[..., -1:]
        return pixels + torch.sin(self.mix(pixels + heard) + self.bend(condition))


class Denoiser(nn.Module):
    """Paints this rank's rows of the picture; all ranks must be asked for the same one."""

    def __init__(self, rank: int, world_size: int) -> None:
        super().__init__()
        self.world_size = world_size
        self.rows = slice(HEIGHT * rank // world_size, HEIGHT * (rank + 1) // world_size)
        self.enter = nn.Linear(CHANNELS + 3, HIDDEN)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.leave = nn.Linear(HIDDEN, CHANNELS)
        self.register_buffer("places", make_places()[self.rows])
        generator = torch.Generator().manual_seed(WEIGHTS)
        with torch.no_grad():
            for weight in self.parameters():
                weight.normal_(0, 1.4 / weight.shape[-1] ** 0.5, generator=generator)

    @torch.inference_mode()
    def paint(self, noise: Tensor, prompt: Tensor) -> Tensor:
        """Return this rank's rows, (rows, WIDTH, 3) floats in [0, 1].

        Args:
            noise: The whole picture's, (HEIGHT, WIDTH, CHANNELS).
            prompt: What to make of it, (HIDDEN,).
        """
        device = self.places.device
        image = noise[self.rows].to(device)
        for step in range(STEPS):
            left = STEPS - step
            condition = prompt + 0.5 * torch.sin(torch.arange(HIDDEN) * left / STEPS)
            clean = self(image, condition.to(device))
            image = image + (clean - image) / left
        return (0.5 + 0.5 * image).clamp(0, 1)

    def forward(self, image: Tensor, condition: Tensor) -> Tensor:
        pixels = torch.sin(self.enter(torch.cat([image, self.places], dim=-1)))
        for layer in self.layers:
            summary = layer.summarize(pixels)
            if self.world_size > 1:
                dist.all_reduce(summary)  # all that ranks have to tell each other
            pixels = layer(pixels, summary, condition)
        return torch.tanh(self.leave(pixels))


def make_places() -> Tensor:
    """Return where each pixel is, (HEIGHT, WIDTH, 3): x, y, and how far from the middle."""
    aspect = WIDTH / HEIGHT
    x, y = torch.linspace(-aspect, aspect, WIDTH), torch.linspace(-1, 1, HEIGHT)
    x, y = x.expand(HEIGHT, WIDTH), y[:, None].expand(HEIGHT, WIDTH)
    return torch.stack([x, y, torch.hypot(x, y)], dim=-1)
