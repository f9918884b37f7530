"""What another process holds and uses, from /proc."""

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Holdings:
    descriptors: int
    threads: int
    resident_mb: float


def holdings(pid: int) -> Holdings:
    status = Path(f"/proc/{pid}/status").read_text()

    def number(key: str) -> int:
        found = re.search(rf"{key}:\s+(\d+)", status)
        assert found is not None
        return int(found[1])

    return Holdings(
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),
        threads=number("Threads"),
        resident_mb=number("VmRSS") / 1024,
    )
