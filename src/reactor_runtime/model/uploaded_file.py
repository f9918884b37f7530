"""UploadedFile: one file a client sent, as a value."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_UNREAD = "_reactor_unread"  # the attribute that holds the contents until somebody wants them


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
        unread = vars(self).get(_UNREAD)
        return len(self.data) if unread is None else unread.nbytes

    def __getattr__(self, name: str) -> Any:
        """Make ``data`` when it is first looked at, of a file that came from another process."""
        unread = vars(self).get(_UNREAD) if name == "data" else None
        if unread is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        vars(self)["data"] = bytes(unread)
        vars(self).pop(_UNREAD, None)
        return self.data

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Offer the contents as a buffer, which may travel beside the pickle."""
        told = {name: value for name, value in vars(self).items() if name not in ("data", _UNREAD)}
        if protocol < 5:
            return _make_unread, (type(self), told, self.data)
        contents = vars(self).get(_UNREAD)
        buffer = pickle.PickleBuffer(self.data if contents is None else contents)
        return _make_unread, (type(self), told, buffer)


def _make_unread(kind: type[UploadedFile], told: Mapping[str, Any], contents: Any) -> UploadedFile:
    """Return a file whose contents, in a buffer, are copied only if somebody wants them."""
    file = object.__new__(kind)
    vars(file).update(told)
    if isinstance(contents, bytes):
        vars(file)["data"] = contents
    else:
        vars(file)[_UNREAD] = memoryview(contents).toreadonly()
    return file
