"""The machine and the versions that figures belong to, without names or paths of the machine."""

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

LIBRARIES = (
    "reactor-runtime",
    "reactor-sdk",
    "reactor-webrtc",
    "aiortc",
    "av",
    "numpy",
    "protobuf",
    "pydantic",
    "starlette",
    "uvicorn",
    "torch",
)
_ASK = """
import importlib.metadata as m, json, platform, sys
found = {"Python": platform.python_version()}
for name in sys.argv[1:]:
    try:
        found[name] = m.version(name)
    except m.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What was measured on.

    Attributes:
        processor: Its model.
        cores: Those this program may use.
        memory_gb: GiB.
        system: Kernel and architecture.
        versions: Of Python and the libraries, ours and the peer's.
        no_peer: Why there is no peer, if there is none.
    """

    processor: str
    cores: int
    memory_gb: int
    system: str
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    no_peer: str = ""

    def write(self, path: Path) -> None:
        """Write it to a file."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return what ``write`` wrote."""
        return cls(**json.loads(path.read_text()))


def this_machine(pythons: dict[str, str], no_peer: str) -> Machine:
    """Return this machine, with the versions that each side's interpreter has."""
    return Machine(
        processor=_value("/proc/cpuinfo", "model name") or platform.processor(),
        cores=len(os.sched_getaffinity(0)),
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        system=f"{platform.system()} {platform.machine()}",
        versions={side: _versions(python, LIBRARIES) for side, python in pythons.items()},
        no_peer=no_peer,
    )


def _value(path: str, key: str) -> str:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")


def _versions(python: str, names: Sequence[str]) -> dict[str, str]:
    done = subprocess.run(
        [python, "-c", _ASK, *names], capture_output=True, text=True, check=True, timeout=60
    )
    return dict(json.loads(done.stdout))
