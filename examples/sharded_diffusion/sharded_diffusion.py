"""A diffusion model on one device or several: each rank paints its rows of every picture."""

import torch
from denoiser import Denoiser
from noise import Noise, embed

from reactor_runtime import InputField, InputState, Output, ReactorPipeline, Shard, Video


class DiffusionState(InputState):
    """What a viewer steers."""

    prompt: str = InputField(
        default="a neon city", max_length=200, description="Every word bends the picture."
    )
    seed: int = InputField(default=0, ge=0, le=9999, description="Other noise, same prompt.")
    speed: float = InputField(default=1.0, ge=0, le=5, description="How fast the noise turns.")


class DiffusionOutput(Output):
    """One picture."""

    main_video: Video


class ShardedDiffusion(ReactorPipeline):
    """Paints what a prompt makes of noise."""

    state: DiffusionState
    fps = 12

    def load(self, config_path: object) -> None:
        """Make the network; there are no weights to load."""
        torch.set_num_threads(1)  # of a small machine the server needs the rest
        self.denoiser = Denoiser(self.rank, self.world_size).to(self.device)

    def inference(self):
        """Yield this rank's rows of one picture per turn."""
        angle, prompt, seed = 0.0, embed(self.state.prompt), None
        while True:
            if seed != self.state.seed:
                seed = self.state.seed
                noise = Noise(self.seed + seed)
            angle += 0.03 * self.state.speed
            prompt = prompt.lerp(embed(self.state.prompt), 0.2)  # a change takes some frames
            rows = self.denoiser.paint(noise.at(angle), prompt)
            yield DiffusionOutput(main_video=Shard(rows, axis="height"))
