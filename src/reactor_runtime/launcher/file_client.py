"""FileClient: sources, logs and outputs on their way to and from the control plane."""

import json
from pathlib import Path
from urllib.parse import quote, urlencode

from reactor_runtime.errors import SourceError
from reactor_runtime.launcher.control_link import ControlLink
from reactor_runtime.launcher.source_bundle import hash_file


class FileClient:
    """Each call raises ``ControlPlaneAbsentError`` or ``ControlPlaneError`` as the link does."""

    def __init__(self, link: ControlLink) -> None:
        self._link = link

    def send_source(self, archive: Path) -> str:
        """Send the archive of a source and return its SHA-256."""
        sha256 = hash_file(archive)
        self._link.send(f"/v1/sources/{sha256}", archive)
        return sha256

    def fetch_source(self, sha256: str, archive: Path) -> None:
        """Write the archive *sha256* to *archive*.

        Raises:
            SourceError: The disk cannot take it; asking again changes nothing.
        """
        try:
            self._link.fetch(f"/v1/sources/{sha256}", archive)
        except OSError as error:  # whose own text names no file where a write failed
            reason = f"this node's disk cannot take it: {error.strerror or error}"
            raise SourceError(str(archive), reason) from error

    def send_log(self, attempt_id: str, node_rank: int, offset: int, chunk: bytes) -> int:
        """Send a part of a node's log and return how much of the log has arrived."""
        path = f"/v1/attempts/{attempt_id}/nodes/{node_rank}/log?offset={offset}"
        return int(json.loads(self._link.ask("PUT", path, chunk))["size"])

    def log(self, attempt_id: str, node_rank: int, offset: int) -> bytes:
        """Return a part of a node's log from *offset* on; empty when there is no more yet."""
        path = f"/v1/attempts/{attempt_id}/nodes/{node_rank}/log?offset={offset}"
        return self._link.ask("GET", path)

    def send_output(self, job_id: str, node_rank: int, name: str, file: Path) -> None:
        """Send one output file."""
        where = f"/v1/jobs/{quote(job_id)}/nodes/{node_rank}/outputs/{quote(name)}"
        self._link.send(f"{where}?{urlencode({'sha256': hash_file(file)})}", file)
