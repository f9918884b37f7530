"""InboundFrames: what clients sent and the model may not see yet."""

from collections.abc import Callable, Mapping

from reactor_runtime.model.input_buffer import InputBuffer, InputFrame


class InboundFrames:
    """Holds frames back while a step runs, bounded like the buffers they are meant for.

    Args:
        buffers: The model's input buffers by track.
        is_expected: Whether frames are of use now: whether somebody is there, as far as is known.
        on_unread: Called with a track, a number of frames the model will never see, and why.
    """

    def __init__(
        self,
        buffers: Mapping[str, InputBuffer],
        is_expected: Callable[[], bool],
        on_unread: Callable[[str, int, str], None],
    ) -> None:
        self._buffers, self._is_expected, self._on_unread = dict(buffers), is_expected, on_unread
        self._counted: dict[tuple[str, str], int] = {}
        self._held = self._empty()

    def adopt(self, buffers: Mapping[str, InputBuffer]) -> None:
        """Serve *buffers* from now on: those of a model that has just been made."""
        self._buffers = dict(buffers)
        self._held = self._empty()

    @property
    def are_awaited(self) -> bool:
        """Whether a read waits for one."""
        return any(buffer.is_awaited for buffer in self._buffers.values())

    def push(self, track: str, frame: InputFrame) -> None:
        """Hold *frame*, from any thread; of an unknown track, or from nobody, drop it."""
        # Look up first, then ask: a frame of a session that ends meanwhile goes with it.
        held = self._held.get(track)
        if held is not None and self._is_expected():
            held.push(frame)

    def deliver(self, may_be_seen: Callable[[], bool]) -> None:
        """Let the model see what is held, if it may."""
        # Look up first, then ask: what comes once everybody has left is for whoever comes next.
        all_held = self._held
        if not all_held or not may_be_seen():
            return
        for name, held in all_held.items():
            if held.available:
                held.move_to(self._buffers[name])

    def count(self) -> None:
        """Report what has been dropped, or passed over, since the last time."""
        for name, buffer in self._buffers.items():
            for reason, total in (("overflow", buffer.dropped), ("passed_over", buffer.skipped)):
                new = total - self._counted.get((name, reason), 0)
                self._counted[name, reason] = total
                if new:
                    self._on_unread(name, new, reason)

    def open(self) -> None:
        """Start afresh for a session's first client."""
        self.count()
        self._counted.clear()
        for buffer in self._buffers.values():
            buffer.reopen()

    def close(self) -> None:
        """End every waiting read and drop what nobody read; further reads raise."""
        for buffer in self._buffers.values():
            buffer.close()

    def forget(self) -> None:
        """Forget what is held, from any thread; it is not for whoever comes next."""
        self._held = self._empty()

    def _empty(self) -> dict[str, InputBuffer]:
        return {name: InputBuffer(buffer.track) for name, buffer in self._buffers.items()}
