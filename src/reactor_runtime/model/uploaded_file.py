"""UploadedFile: one file a client sent, as a value."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class UploadedFile:
    """A file a client uploaded. Authors and their tests construct it too.

    Attributes:
        name: The name the client gave: a label, never a path to open.
        mime_type: The type the client gave; unchecked.
        data: The bytes.
    """

    name: str
    mime_type: str
    data: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """Return the length of the data in bytes."""
        return len(self.data)
