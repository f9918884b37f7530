"""What a worker group could leave behind, and looking for it."""

import os
from collections import Counter
from pathlib import Path

RANK_MARK = b"REACTOR_RANK="


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def group_processes(mark: bytes = RANK_MARK) -> set[int]:
    """Every living process of a worker group, and what such processes started."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes() and is_alive(int(entry.name)):
                    found.add(int(entry.name))
            except OSError:
                continue
    return found


def children() -> set[int]:
    """Children of this process, zombies included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found.update(map(int, (task / "children").read_text().split()))
        except OSError:
            continue
    return found


def open_files() -> list[str]:
    """What this process has open, without the numbers that never come twice."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        kind = target.partition(":")[0]
        found.append(kind if kind in ("pipe", "socket") else target)
    return sorted(name for name in found if not name.startswith("/proc/"))


def shared_blocks() -> set[str]:
    """Named shared memory of the kinds that could be ours; other programs have theirs."""
    kinds = ("reactor", "torch_")
    return {entry.name for entry in Path("/dev/shm").iterdir() if entry.name.startswith(kinds)}


def leftovers() -> Counter[tuple[str, object]]:
    """Everything that could be left behind, by kind, with how often it is there."""
    found: Counter[tuple[str, object]] = Counter()
    found.update(("process", pid) for pid in own_group_processes())
    found.update(("child", pid) for pid in children())
    found.update(("open file", name) for name in open_files())
    found.update(("shared memory", name) for name in shared_blocks())
    return found


def own_group_processes() -> set[int]:
    """Processes of groups that this process has started, by way of living descendants."""
    return {pid for pid in group_processes() if _descends_from_us(pid)}


def _descends_from_us(pid: int) -> bool:
    own = os.getpid()
    while pid > 1:
        try:
            text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            return False
        pid = int(text.rpartition(")")[2].split()[1])
        if pid == own:
            return True
    return False
