"""FileShelf: sources, logs and outputs that the control plane keeps as files."""

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

from reactor_runtime.errors import SourceError
from reactor_runtime.launcher.source_bundle import keep_out

MAX_OUTPUT_BYTES = 4 * 1024**3
MAX_LOG_CHUNK = 1024**2
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class FileShelf:
    """Everything under two folders; a file appears under its name only when it is whole."""

    def __init__(self, folder: Path, outputs: Path) -> None:
        self._folder, self._outputs = folder, outputs
        keep_out(folder)
        for name in ("sources", "logs", "arriving"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def source(self, sha256: str) -> Path:
        """Return where the archive *sha256* is, or will be."""
        return self._folder / "sources" / f"{_safe(sha256)}.tar.gz"

    def log(self, attempt_id: str, node_rank: int) -> Path:
        """Return the log of one node of one attempt."""
        return self._folder / "logs" / f"{_safe(attempt_id)}.node{node_rank}.log"

    def output(self, job_id: str, node_rank: int, name: str) -> Path:
        """Return where one output of a node belongs.

        Raises:
            SourceError: The name would leave the node's folder.
        """
        parts = PurePosixPath(name).parts
        if not parts or PurePosixPath(name).is_absolute() or ".." in parts or "\0" in name:
            raise SourceError(name, "is no name of an output")
        return self._outputs.joinpath(_safe(job_id), f"node{node_rank}", *parts)

    def has_outputs(self, job_id: str) -> bool:
        """Return whether outputs of a job of that id are there already."""
        return (self._outputs / _safe(job_id)).exists()

    def append_log(self, attempt_id: str, node_rank: int, offset: int, chunk: bytes) -> int:
        """Write *chunk* at *offset*; what is there already stays. Return the log's new size."""
        path = self.log(attempt_id, node_rank)
        with path.open("ab") as file:
            size = file.tell()
            if offset <= size:
                file.write(chunk[size - offset :])
                size = file.tell()
            return size

    async def receive(
        self, chunks: AsyncIterator[bytes], target: Path, sha256: str, limit: int
    ) -> None:
        """Write *chunks* to *target*, once all are there and their hash is *sha256*.

        Raises:
            SourceError: They are too many bytes, or not those that were named.
        """
        digest, size = hashlib.sha256(), 0
        handle, name = tempfile.mkstemp(dir=self._folder / "arriving")
        try:
            with os.fdopen(handle, "wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > limit:
                        raise SourceError(target.name, f"is larger than {limit} bytes")
                    digest.update(chunk)
                    file.write(chunk)
            if digest.hexdigest() != sha256:
                raise SourceError(target.name, "is not what its hash says; it was sent damaged")
            if target.is_relative_to(self._outputs) and not self._outputs.exists():
                keep_out(self._outputs)  # one that was there may be part of a source
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(name, target)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)


def _safe(name: str) -> str:
    if not _SAFE.fullmatch(name):
        raise SourceError(name, "is no name of a file")
    return name
