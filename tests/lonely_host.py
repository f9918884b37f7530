"""A host that has nothing but loopback: a network namespace of its own for a coroutine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_ENTER = ["unshare", "--net", "--map-root-user"]


def run_lonely(module: str, name: str, **env: str) -> None:
    """Run the coroutine *name* of a module where only loopback exists."""
    script = f"import asyncio; from {module} import {name}; asyncio.run({name}())"
    command = f"ip link set lo up && exec {sys.executable} -W error -c '{script}'"
    done = subprocess.run(
        [*_ENTER, "sh", "-c", command],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", **env},
        capture_output=True,
        timeout=60,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def _can_enter() -> bool:
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    return subprocess.run([*_ENTER, "true"], capture_output=True, timeout=10).returncode == 0


needs_namespace = pytest.mark.skipif(
    not _can_enter(), reason="needs a network namespace of its own"
)
