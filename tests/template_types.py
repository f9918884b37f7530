"""Asks mypy, at its strictest, about the model and the test that ``reactor init`` writes.

An author's editor asks the same, so the template shows how a model and its test are annotated.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

BIN = Path(sys.executable).parent
CACHE = Path(__file__).resolve().parents[1] / ".mypy_cache" / "template"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        init = [str(BIN / "reactor"), "init", "sky"]
        subprocess.run(init, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        command = [str(BIN / "mypy"), "--strict", "--cache-dir", str(CACHE), "."]
        return subprocess.run(command, cwd=Path(folder) / "sky", check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
