"""The peer: the public runtime from PyPI, in a virtual environment of its own.

python benchmarks/peer.py     installs it and prints its interpreter
"""

import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".venv-peer"
PACKAGES = ("reactor-runtime==3.10.0", "reactor-sdk==1.13.0", "aiortc", "aiohttp")
NEEDS = (3, 12)
_NAMES = ("python3.12", "python3.13", "python3", "python")
_PYENV = Path("~/.pyenv/versions").expanduser()


class PeerMissingError(Exception):
    """Raised when the peer cannot be had; says why."""


def install_peer() -> Path:
    """Return an interpreter that has the peer, installing it where it is not yet.

    Raises:
        PeerMissingError: There is no Python for it, or pip could not install it.
    """
    python = FOLDER / "bin" / "python"
    done = FOLDER / "installed"
    if done.exists() and done.read_text() == "\n".join(PACKAGES):
        return python
    _run([find_interpreter(), "-m", "venv", "--clear", str(FOLDER)], "make its environment")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, *PACKAGES], f"install {PACKAGES[0]}")
    done.write_text("\n".join(PACKAGES))
    return python


def find_interpreter() -> str:
    """Return a Python new enough for the peer.

    Raises:
        PeerMissingError: None was found on the path or under pyenv.
    """
    candidates = [found for name in _NAMES if (found := shutil.which(name))]
    candidates += [str(each) for each in sorted(_PYENV.glob("3.1[23].*/bin/python"))]
    for candidate in candidates:
        ask = f"import sys, venv; sys.exit(sys.version_info < {NEEDS})"
        if subprocess.run([candidate, "-c", ask], capture_output=True, check=False).returncode == 0:
            return candidate
    wanted = ".".join(map(str, NEEDS))
    raise PeerMissingError(f"{PACKAGES[0]} needs Python {wanted}, and none was found")


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise PeerMissingError(f"could not {what} (status {done.returncode})")


if __name__ == "__main__":
    try:
        print(install_peer())
    except PeerMissingError as error:
        sys.exit(str(error))
