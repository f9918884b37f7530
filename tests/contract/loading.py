"""What a statement loads, seen by a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

HEAVY = ("torch", "aiortc", "aioice", "av", "fastapi", "starlette", "uvicorn", "google.protobuf")
ROOT = Path(__file__).parents[2]


def loaded_by(statement: str, *modules: str) -> set[str]:
    """Return which of *modules* a fresh interpreter has after *statement*."""
    code = f"import sys; {statement}; print(*(m for m in {modules!r} if m in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())
