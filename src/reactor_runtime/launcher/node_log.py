"""NodeLog: what the ranks and torchrun of one node print, line by line, each tagged.

torchrun sends what ranks print to files; this follows them. A rank that is killed loses nothing:
what it has written is in its file.
"""

import math
from collections.abc import Iterator
from pathlib import Path

_MAX_LINE = 64 * 1024
_MOST = 4 * 1024**2
# What torch says of every store that is held by somebody else, as ours always is: no fault.
_EXPECTED = b"TORCHELASTIC_USE_AGENT_STORE is enabled so ignoring the error"


class NodeLog:
    """Follows the files of one task."""

    def __init__(self, name: str, node_rank: int, first_rank: int, procs: int) -> None:
        self._tag = f"{name} node{node_rank}"
        self._first_rank, self._procs = first_rank, procs
        self._open: dict[Path, _Tail] = {}

    def poll(self, log_dir: Path, torchrun_log: Path, *, is_last: bool = False) -> Iterator[bytes]:
        """Yield the lines that are new, tagged, in pieces; with *is_last* to the very end.

        Before the last time at most ``_MOST`` bytes of each file, so that who writes faster than
        this reads keeps nobody from looking at anything else.
        """
        for path, who in self._files(log_dir, torchrun_log):
            if path not in self._open and path.exists():
                self._open[path] = _Tail(path, f"[{self._tag} {who}] ".encode())
        for tail in self._open.values():
            yield from tail.read(is_last)

    def _files(self, log_dir: Path, torchrun_log: Path) -> Iterator[tuple[Path, str]]:
        yield torchrun_log, "torchrun"
        if len(self._open) > 2 * self._procs:
            return
        for local in range(self._procs):
            for path in log_dir.glob(f"*/attempt_0/{local}/std*.log"):
                yield path, f"rank{self._first_rank + local}"


class _Tail:
    """One file and how far it has been read; holds at most one line."""

    def __init__(self, path: Path, tag: bytes) -> None:
        self._path, self._tag = path, tag
        self._offset, self._rest = 0, b""

    def read(self, is_last: bool) -> Iterator[bytes]:
        enough = math.inf if is_last else self._offset + _MOST
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while self._offset < enough and (chunk := file.read(_MAX_LINE)):
                self._offset += len(chunk)
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                if len(self._rest) >= _MAX_LINE:
                    lines.append(self._rest)
                    self._rest = b""
                yield b"".join(self._tag + line + b"\n" for line in lines if _EXPECTED not in line)
        if is_last and self._rest:
            yield self._tag + self._rest + b"\n"
            self._rest = b""
