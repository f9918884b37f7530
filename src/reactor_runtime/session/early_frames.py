"""EarlyFrames: what arrives before a connection counts as open, kept in order."""

from weakref import WeakKeyDictionary

from reactor_runtime.session.connection import Channel, Connection

_MAX_BYTES = 1024 * 1024

Frames = list[tuple[Channel, bytes | str]]


class EarlyFrames:
    """Keeps the first frames of connections that are not open yet.

    A connection that never opens is forgotten with its frames when nobody else holds it.

    Args:
        max_frames: Frames kept per connection; later ones are dropped.
    """

    def __init__(self, max_frames: int) -> None:
        self._max_frames = max_frames
        self._frames: WeakKeyDictionary[Connection, Frames] = WeakKeyDictionary()

    def keep(self, connection: Connection, channel: Channel, frame: bytes | str) -> bool:
        """Keep one frame; ``False`` when there is no room for it."""
        kept = self._frames.setdefault(connection, [])
        size = sum(len(each) for _, each in kept) + len(frame)
        if len(kept) >= self._max_frames or size > _MAX_BYTES:
            return False
        kept.append((channel, frame))
        return True

    def take(self, connection: Connection) -> Frames:
        """Return and forget what was kept of *connection*, oldest first."""
        return self._frames.pop(connection, [])

    def clear(self) -> None:
        """Forget everything."""
        self._frames.clear()
