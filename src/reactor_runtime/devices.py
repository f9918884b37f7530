"""Which accelerators this machine shows, asked without loading an accelerator library."""

import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def visible_cuda_devices(environ: Mapping[str, str] | None = None) -> int:
    """Return how many CUDA devices a process with this environment may use."""
    chosen = (os.environ if environ is None else environ).get("CUDA_VISIBLE_DEVICES")
    present = _cuda_device_files()
    if chosen is None:
        return present
    names = [name.strip() for name in chosen.split(",") if name.strip()]
    usable = names[: names.index("-1")] if "-1" in names else names
    return min(len(usable), present)


def default_device(environ: Mapping[str, str] | None = None) -> str:
    """Return ``cuda:0`` when a device is visible and torch, if there is one, can use it."""
    usable = visible_cuda_devices(environ) > 0 and torch_cuda_version() != "none"
    return "cuda:0" if usable else "cpu"


def torch_cuda_version() -> str | None:
    """Return the CUDA version torch was built for, ``none`` for a CPU build.

    ``None`` when there is no torch. Reads one small file; importing torch would cost seconds.
    """
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return None
    match = re.search(r"^cuda[^=\n]*=\s*(?:'([^']*)'|\"([^\"]*)\"|None)", text, re.MULTILINE)
    if match is None:
        return None
    return match[1] or match[2] or "none"


def usable_cuda_devices() -> int | None:
    """Return how many CUDA devices torch can use; ``None`` where nobody has imported torch."""
    torch: Any = sys.modules.get("torch")
    cuda = getattr(torch, "cuda", None)  # an import that failed may have left half of it
    return None if cuda is None else int(cuda.device_count())


def _cuda_device_files() -> int:
    device_files = Path("/dev")
    numbered = [file for file in device_files.glob("nvidia[0-9]*") if file.name[6:].isdigit()]
    return len(numbered) or int((device_files / "dxg").exists())
