"""NodeLog: what the ranks and torchrun of one node print, line by line, each tagged.

torchrun sends what ranks print to files; this follows them. A rank that is killed loses nothing:
what it has written is in its file.
"""

from collections.abc import Iterator
from pathlib import Path

_MAX_LINE = 64 * 1024
# What torch says of every store that is held by somebody else, as ours always is: no fault.
_EXPECTED = b"TORCHELASTIC_USE_AGENT_STORE is enabled so ignoring the error"


class NodeLog:
    """Follows the files of one task."""

    def __init__(self, name: str, node_rank: int, first_rank: int, procs: int) -> None:
        self._tag = f"{name} node{node_rank}"
        self._first_rank, self._procs = first_rank, procs
        self._open: dict[Path, _Tail] = {}

    def poll(self, log_dir: Path, torchrun_log: Path, *, is_last: bool = False) -> bytes:
        """Return the lines that are new, tagged; with *is_last* a line without an end too."""
        for path, who in self._files(log_dir, torchrun_log):
            if path not in self._open and path.exists():
                self._open[path] = _Tail(path, f"[{self._tag} {who}] ".encode())
        return b"".join(part for tail in self._open.values() for part in tail.read(is_last))

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
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while chunk := file.read(_MAX_LINE):
                self._offset += len(chunk)
                *lines, self._rest = (self._rest + chunk).split(b"\n")
                for line in lines:
                    if _EXPECTED not in line:
                        yield self._tag + line + b"\n"
                if len(self._rest) >= _MAX_LINE:
                    yield self._tag + self._rest + b"\n"
                    self._rest = b""
        if is_last and self._rest:
            yield self._tag + self._rest + b"\n"
            self._rest = b""
