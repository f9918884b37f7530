"""DistributedWorker: what an author subclasses to run on every rank of a ``WorkerGroup``."""

from typing import Any

from reactor_runtime.distributed.slot_writer import SlotWriter


class DistributedWorker:
    """One rank's half of a model that drives its own worker group. Experimental.

    Every rank gets the same calls in the same order. Override what is needed; a subclass need not
    call ``super().__init__()``. ``DistributedRunner`` calls ``load``, ``generate`` and ``reset``
    of the class instead of the methods here.

    Attributes:
        rank: Position in the group. This and the following are set after ``__init__``.
        world_size: Number of ranks.
        local_rank: Position on this machine; the index of the device.
        device: ``"cpu"`` or ``"cuda:<n>"``.
        is_leader: Whether ``rank`` is 0.
        seed: The session's seed, set before ``start_session``; all global generators (``random``,
            numpy, torch) are seeded with it.
        frames: Where frames may be written in place.
    """

    rank: int = 0
    world_size: int = 1
    local_rank: int = 0
    device: str = "cpu"
    is_leader: bool = True
    seed: int = 0
    frames: SlotWriter

    def setup(self, *args: Any, **kwargs: Any) -> None:
        """Load what the rank needs; gets the group's ``setup_kwargs``."""

    def warmup(self) -> None:
        """Run once whatever is slow the first time."""

    def start_session(self, params: Any) -> None:
        """Begin a session. An exception here is the one kind the group survives."""

    def generate_chunk(self, index: int, controls: Any) -> Any:
        """Make the next chunk.

        Args:
            index: Which chunk, as the caller counts.
            controls: What the caller passed.

        Returns:
            Frames (an array or tensor, frames first), an end row when frames were written in
            place into ``self.frames``, or ``None``. The chunk is as long as the largest end row
            of any rank; an array counts from one rank, the leader if it returned one.
        """
        raise NotImplementedError(f"{type(self).__qualname__} has no generate_chunk")

    def end_session(self) -> None:
        """End the session."""
