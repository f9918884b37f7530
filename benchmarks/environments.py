"""The two sides' environments: the public runtime's, from PyPI, and ours on the same Python.

python benchmarks/environments.py     makes both and prints their interpreters
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SDK = "reactor-sdk==1.13.0"
PEER = "reactor-runtime==3.10.0"
NEEDS = (3, 12)  # what the peer's wheel asks for
_NAMES = ("python3.12", "python3.13", "python3", "python")
_PYENV = Path("~/.pyenv/versions").expanduser()


class EnvironmentMissingError(Exception):
    """Raised when a side cannot be had; says why."""


def install_peer() -> Path:
    """Return an interpreter that has the public runtime, installing it where it is not yet.

    Raises:
        EnvironmentMissingError: There is no Python for it, or pip could not install it.
    """
    return _install(ROOT / ".venv-peer", PEER, SDK, "aiortc", "aiohttp")


def install_ours() -> Path:
    """Return an interpreter of the peer's kind that has this package as it stands in the tree.

    Raises:
        EnvironmentMissingError: There is no such Python, or pip could not install it.
    """
    python = _install(ROOT / ".venv-ours", "-e", f"{ROOT}[bench,test]", SDK)
    # As pip does with what it installs: else each start compiles it where nothing may write caches.
    _run([str(python), "-m", "compileall", "-q", str(ROOT / "src")], "compile this package")
    return python


def find_interpreter() -> str:
    """Return a Python new enough for the peer.

    Raises:
        EnvironmentMissingError: None was found on the path or under pyenv.
    """
    candidates = [found for name in _NAMES if (found := shutil.which(name))]
    candidates += [str(each) for each in sorted(_PYENV.glob("3.1[23].*/bin/python"))]
    for candidate in candidates:
        ask = f"import sys, venv; sys.exit(sys.version_info < {NEEDS})"
        if subprocess.run([candidate, "-c", ask], capture_output=True, check=False).returncode == 0:
            return candidate
    wanted = ".".join(map(str, NEEDS))
    raise EnvironmentMissingError(f"{PEER} needs Python {wanted}, and none was found")


def _install(folder: Path, *packages: str) -> Path:
    python, done = folder / "bin" / "python", folder / "installed"
    if done.exists() and done.read_text() == "\n".join(packages):
        return python
    _run([find_interpreter(), "-m", "venv", "--clear", str(folder)], f"make {folder.name}")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([*pip, *packages], f"install {' '.join(packages)}")
    done.write_text("\n".join(packages))
    return python


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise EnvironmentMissingError(f"could not {what} (status {done.returncode})")


if __name__ == "__main__":
    try:
        print(install_peer(), install_ours(), sep="\n")
    except EnvironmentMissingError as error:
        sys.exit(str(error))
