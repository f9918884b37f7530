"""OutputStream: ``self.output``, the author's handle on what is already on its way out."""

from typing import TYPE_CHECKING, Any

from reactor_runtime.model.outlet import Outlet

if TYPE_CHECKING:
    from reactor_runtime.model.reactor_model import ReactorModel


class OutputStream:
    """The stream of one model. Does nothing on an instance nobody serves; any thread may use it."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet

    def flush(self) -> None:
        """Drop everything emitted before this call and cut to black; what comes after plays."""
        self._outlet.flush()

    @property
    def fps(self) -> float | None:
        """The pinned rate in frames per second; ``None`` while it follows the measured one."""
        return self._outlet.pinned_fps

    @fps.setter
    def fps(self, fps: float) -> None:
        self._outlet.set_fps(fps)


class OutputAttribute:
    """Makes ``self.output`` where the author put nothing of that name."""

    def __get__(self, model: "ReactorModel | None", owner: type) -> Any:
        return self if model is None else OutputStream(model._reactor_outlet)
