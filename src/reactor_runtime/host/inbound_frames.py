"""InboundFrames: what clients sent and the model may not see yet."""

from collections.abc import Mapping

from reactor_runtime.model.input_buffer import InputBuffer, InputFrame


class InboundFrames:
    """Holds frames back while a step runs, bounded like the buffers they are meant for.

    Args:
        buffers: The model's input buffers by track.
    """

    def __init__(self, buffers: Mapping[str, InputBuffer]) -> None:
        self._buffers = dict(buffers)
        self._held = {name: InputBuffer(buffer.track) for name, buffer in buffers.items()}

    @property
    def are_awaited(self) -> bool:
        """Whether a read waits for one."""
        return any(buffer.is_awaited for buffer in self._buffers.values())

    def push(self, track: str, frame: InputFrame) -> None:
        """Hold *frame*, from any thread; of an unknown track, drop it."""
        if (held := self._held.get(track)) is not None:
            held.push(frame)

    def deliver(self) -> None:
        """Let the model see what is held."""
        for name, held in self._held.items():
            if held.available:
                held.move_to(self._buffers[name])

    def open(self) -> None:
        """Start afresh for a session's first client."""
        for buffer in self._buffers.values():
            buffer.reopen()

    def close(self) -> None:
        """End every waiting read and drop what nobody read; further reads raise."""
        for buffer in self._buffers.values():
            buffer.close()

    def drop_held(self) -> None:
        """Forget what is held."""
        for held in self._held.values():
            held.clear()
