"""FragmentSink: what a muxer writes, taken apart into the file's head and its fragments."""

from reactor_runtime.recording.mp4_boxes import boxes

_MDAT, _MOOV = b"mdat", b"moov"


class FragmentSink:
    """A file, as far as a muxer that never seeks needs one.

    Attributes:
        head: The boxes before the first fragment; empty until they are complete.
    """

    def __init__(self) -> None:
        self.head = b""
        self._unread = bytearray()
        self._fragments: list[bytes] = []

    def write(self, piece: bytes) -> int:
        """Take the next bytes, cut anywhere."""
        self._unread += piece
        end = 0
        for box in boxes(self._unread):
            if box.kind in (_MDAT, _MOOV):
                self._keep(bytes(self._unread[end : box.end]), is_head=box.kind == _MOOV)
                end = box.end
        if end:
            del self._unread[:end]
        return len(piece)

    def take(self) -> list[bytes]:
        """Return the fragments that have been completed since the last call."""
        fragments, self._fragments = self._fragments, []
        return fragments

    def _keep(self, part: bytes, *, is_head: bool) -> None:
        if is_head:
            self.head = part
        else:
            self._fragments.append(part)
