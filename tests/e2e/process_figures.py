"""What another process holds and uses, from /proc."""

import contextlib
import os
import re
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

# What may have been missing as one looked first: a thread that a pool makes as work overlaps, and
# keeps; a file between its closing and the next one's opening. What is kept counts once a round.
_MORE_THREADS, _MORE_DESCRIPTORS = 4, 2


@dataclass(frozen=True)
class Holdings:
    descriptors: int
    threads: int
    resident_mb: float

    def are_flat(self, before: "Holdings") -> bool:
        """Whether nothing more is held than *before*, which was ten rounds or more ago."""
        return (
            self.descriptors <= before.descriptors + _MORE_DESCRIPTORS
            and self.threads <= before.threads + _MORE_THREADS
        )


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


def listening(pid: int) -> set[tuple[str, int]]:
    """Return address and port of every TCP socket on which a process listens."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # it may be gone
            if found := re.fullmatch(r"socket:\[(\d+)\]", os.readlink(link)):
                inodes.add(found[1])
    places = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = row.split()
            if fields[3] == "0A" and fields[9] in inodes:
                host, _, port = fields[1].partition(":")
                words = [int(host[i : i + 8], 16) for i in range(0, len(host), 8)]
                packed = b"".join(struct.pack("=I", word) for word in words)
                places.add((socket.inet_ntop(family, packed), int(port, 16)))
    return places


def ranks_of(pid: int) -> list[int]:
    """Return the rank processes of a server, rank 0 first."""
    found: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"worker_main" in (folder / "cmdline").read_bytes():
                rank = re.search(rb"\0RANK=(\d+)", (folder / "environ").read_bytes())
                assert rank is not None
                found[int(rank[1])] = int(folder.name)
    return [found[rank] for rank in sorted(found)]


def no_process_is_left(pids: list[int]) -> bool:
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)
