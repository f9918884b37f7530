"""SegmentFiles: where the segments of recordings lie on disk.

    <folder>/<recording>/chunk_00000.m4s     pictures and sound
                         chunk_00000.json    metadata of what it shows, if there is any

Every name is ours alone.
"""

from contextlib import suppress
from pathlib import Path

from reactor_runtime.log import get_logger
from reactor_runtime.recording.recording import Recording, Segment
from reactor_runtime.scratch_folder import ScratchFolder

_FILM, _NOTES = "m4s", "json"

log = get_logger(__name__)


class SegmentFiles:
    """Writes, reads and removes the files of segments.

    Args:
        folder: Where they lie; open.
    """

    def __init__(self, folder: ScratchFolder) -> None:
        self._folder = folder

    @property
    def path(self) -> Path:
        """Where they lie.

        Raises:
            FileNotFoundError: It is gone.
        """
        return self._folder.path

    def write(self, recording: Recording, segment: Segment, film: bytes, notes: bytes) -> None:
        """Write the files of *segment*.

        Raises:
            OSError: It cannot be; nothing of it is left.
        """
        try:
            for suffix, content in ((_NOTES, notes), (_FILM, film)):
                if content:
                    path = self._path(recording, segment, suffix)
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(content)
        except OSError:
            self.remove(recording, segment)
            raise

    def film(self, recording: Recording, segment: Segment) -> bytes:
        """Return the pictures and sound of *segment*.

        Raises:
            OSError: It is gone.
        """
        return self._path(recording, segment, _FILM).read_bytes()

    def notes(self, recording: Recording, segment: Segment) -> bytes:
        """Return the metadata of *segment*, empty for none.

        Raises:
            OSError: It is gone.
        """
        return self._path(recording, segment, _NOTES).read_bytes() if segment.notes_bytes else b""

    def remove(self, recording: Recording, segment: Segment) -> None:
        """Remove the files of *segment*, as far as they are there."""
        for suffix in (_FILM, _NOTES):
            try:
                self._path(recording, segment, suffix).unlink(missing_ok=True)
            except OSError as error:
                log.warning("recording_not_removed", reason=str(error))

    def remove_folder(self, recording: Recording) -> None:
        """Remove the folder of *recording*, whose segments are gone."""
        with suppress(OSError):  # it was never made, or a segment is being written into it
            (self.path / recording.id).rmdir()

    def close(self) -> None:
        """Remove everything. Idempotent."""
        self._folder.close()

    def _path(self, recording: Recording, segment: Segment, suffix: str) -> Path:
        return self.path / recording.id / f"chunk_{segment.number:05d}.{suffix}"
