"""SilentHostOutlet: what a rank does not do of a host's outlet, because the host does it."""

from collections.abc import Callable

from reactor_runtime.host.host_outlet import Chunk, HostFailure, StepReport


class SilentHostOutlet:
    """The part of ``HostOutlet`` that is the host's own business: here it does nothing."""

    def step_at(self, frames: int, coming: int = 0) -> float | None:
        """Say nothing: the host decides."""
        return None

    def has_room(self, frames: int) -> bool:
        """Say that there is room: the host waits for it."""
        return True

    def on_room(self, callback: Callable[[], None]) -> None:
        """Do nothing."""

    def put(self, chunk: Chunk, wanted: Callable[[], bool] | None = None) -> None:
        """Do nothing: pixels go into the shared frames."""

    def dropped(self, chunk: Chunk) -> None:
        """Do nothing."""

    def flush(self) -> None:
        """Do nothing: the emitter says so itself."""

    def step_begun(self, session_id: str, number: int) -> None:
        """Do nothing: the host knows."""

    def step_done(self, report: StepReport) -> None:
        """Do nothing: the host knows."""

    def failed(self, failure: HostFailure) -> None:
        """Do nothing: what failed is told with its exception."""
