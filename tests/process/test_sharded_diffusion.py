"""The sharded example: what the README's diff makes of it, and its pixels on one rank and more."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("torch")

from tests.contract.model_host.recording_outlet import RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage
from tests.e2e.serving import ROOT

from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.in_process_host import InProcessHost
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.worker_pool_host import WorkerPoolHost

pytestmark = pytest.mark.torch
EXAMPLE = ROOT / "examples" / "sharded_diffusion"
COMMANDS: tuple[dict[str, Any], ...] = (
    {},
    {"prompt": "a coral reef"},
    {"seed": 3},
    {"speed": 4.0},
)
PAINT = """
import sys
import numpy as np
from sharded_diffusion import DiffusionState, ShardedDiffusion
model = ShardedDiffusion()
model.load(None)
model.seed, model.state = 7, DiffusionState()
pictures = model.inference()
shown = [next(pictures).main_video for _ in range(3)]
np.save(sys.argv[1], [np.asarray(getattr(each, "part", each)) for each in shown])
"""


def on_one_device(source: str, hunk: str) -> str:
    """Take one hunk of the README's diff back; it must be there, once."""
    lines = hunk.splitlines()
    new = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    old = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    assert source.count(new) == 1, f"the README shows what is not in the file:\n{new}"
    return source.replace(new, old)


def painted(folder: Path, file: Path) -> NDArray[np.float32]:
    """What the model in *folder* paints, in an interpreter of its own."""
    subprocess.run([sys.executable, "-c", PAINT, file], cwd=folder, check=True, timeout=60)
    found: NDArray[np.float32] = np.load(file)
    return found


def test_the_diff_of_the_readme_is_all_that_one_device_does_not_need(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (diff,) = [d for d in re.findall(r"```diff\n(.*?)```", readme, re.DOTALL) if "Denoiser" in d]
    sources = {file.name: file.read_text() for file in EXAMPLE.glob("*.py")}
    for hunk in diff.split("@@ ")[1:]:
        head, _, body = hunk.partition("\n")
        name = head.partition(",")[0]
        sources[name] = on_one_device(sources[name], body.rstrip("\n"))
    for name, source in sources.items():
        (tmp_path / name).write_text(source)
    assert "world_size" not in "".join(sources[n] for n in ("sharded_diffusion.py", "denoiser.py"))
    plain, sharded = painted(tmp_path, tmp_path / "a.npy"), painted(EXAMPLE, tmp_path / "b.npy")
    assert np.array_equal(plain, sharded)


@pytest.fixture
def make_host(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, RecordingOutlet], ModelHost]:
    monkeypatch.syspath_prepend(EXAMPLE)
    model: Any = importlib.import_module("sharded_diffusion").ShardedDiffusion

    def make(world_size: int, outlet: RecordingOutlet) -> ModelHost:
        if world_size == 1:
            return InProcessHost(model, outlet=outlet, settings=HostSettings())
        pool = PoolSettings(world_size=world_size, device="cpu", load_timeout_s=90.0)
        return WorkerPoolHost(model, outlet=outlet, pool=pool, settings=HostSettings())

    return make


async def pictures_of(host: ModelHost, outlet: RecordingOutlet) -> NDArray[np.uint8]:
    """Steer a session, its commands always before the same turns; every picture it shows."""
    outlet.room = 0
    stage = Stage(host, outlet)
    stage.open(seed=7)
    for turn, command in enumerate(COMMANDS):
        for name, value in command.items():
            await stage.ask(f"set_{name}", **{name: value})
        outlet.give_room(3)
        await stage.shown(3 * (turn + 1))
    shown = outlet.of(Shown)
    assert len(shown) == 12
    return np.concatenate([each.video["main_video"] for each in shown])


@pytest.mark.timeout(240)
async def test_ranks_show_together_what_one_shows_alone(
    make_host: Callable[[int, RecordingOutlet], ModelHost],
) -> None:
    shown = {}
    for world_size in (1, 2, 4):
        outlet = RecordingOutlet()
        async with AsyncExitStack() as stack:
            host = await stack.enter_async_context(make_host(world_size, outlet))
            shown[world_size] = await pictures_of(host, outlet)
    for world_size in (2, 4):
        difference = np.abs(shown[world_size].astype(int) - shown[1])
        assert difference.mean() < 1e-3 * 255
        assert difference.max() <= 1  # where a float falls on the other side of a half
    assert np.abs(shown[1][2].astype(int) - shown[1][-1]).mean() > 20
