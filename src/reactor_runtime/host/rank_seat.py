"""RankSeat: what a rank's model needs of whatever joins it to the other ranks."""

from typing import Any, Protocol

from reactor_runtime.world import World

Shape = tuple[int, ...]


class PictureSink(Protocol):
    """Where a rank's pixels go in the step it is in."""

    def place(
        self,
        track: str,
        pixels: Any,
        *,
        shape: Shape | None = None,
        origin: Shape = (),
        picture: int | None = None,
        may_change: bool = False,
    ) -> None:
        """Take a picture of *track*, or this rank's part of one; see ``SlotWriter.place``."""
        ...

    def reserve(self, track: str, shape: Shape, dtype: str, *, picture: int) -> None:
        """Leave a picture to other ranks."""
        ...


class RankSeat(Protocol):
    """A rank of a worker group, or of a job."""

    @property
    def world(self) -> World:
        """This rank's place."""
        ...

    @property
    def frames(self) -> PictureSink:
        """Where pixels go."""
        ...

    def post(self, payload: object) -> None:
        """Say something to whoever listens to the leader, from any thread."""
        ...

    def try_to_carry(self, value: object) -> None:
        """Raise, whatever it is, what keeps *value* from whoever is told of emissions."""
        ...

    def suspend(self, payload: object) -> Any:
        """Return the answer to what every rank asks for at this place."""
        ...
