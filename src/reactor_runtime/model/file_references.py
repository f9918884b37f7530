"""References to files: how a client names what it sends beside its commands.

A reference stands where a declared type wants a file. Whoever has the file puts it there; until it
has arrived an ``AbsentFile`` holds its place, so that everything else can be checked already.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reactor_runtime.model.uploaded_file import UploadedFile

UPLOAD_REFERENCE = "ReactorUploadReference"  # what a schema calls a reference
UPLOAD_ID = "upload_id"  # the key that makes an object of a client's a reference


@dataclass(frozen=True, slots=True)
class FileReference:
    """An argument that its caller says is a file, whatever type is declared for it."""

    upload_id: str


@dataclass(frozen=True, slots=True)
class AbsentFile:
    """Holds the place of a file that is not here."""

    upload_id: str


class ReferencedFiles:
    """The files that one check of arguments may use.

    Args:
        files: By upload id.

    Attributes:
        has_gaps: A file that was asked for was not among them.
    """

    def __init__(self, files: Mapping[str, UploadedFile]) -> None:
        self._files = files
        self.has_gaps = False

    def take(self, upload_id: str) -> UploadedFile | AbsentFile:
        """Return the file, or what holds its place."""
        file = self._files.get(upload_id)
        if file is None:
            self.has_gaps = True
            return AbsentFile(upload_id)
        return file


def absent_files(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield the path and the upload id of every gap in a checked *value*."""
    if isinstance(value, AbsentFile):
        yield path, value.upload_id
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from absent_files(each, (*path, key))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(value):
            yield from absent_files(each, (*path, index))
