"""What a class says of its own pace: ``fps`` and ``buffer_size``."""

import math


def class_fps(model_class: type) -> float | None:
    """Return the rate pinned on the class in frames per second, ``None`` when it is measured.

    Raises:
        ValueError: It is not a positive, finite number.
    """
    fps = getattr(model_class, "fps", None)
    if fps is None or isinstance(fps, property):  # a property is the author's own
        return None
    return checked_fps(fps)


def class_buffer_frames(model_class: type) -> int | None:
    """Return the class's bound on queued frames, ``None`` for the runtime's own.

    Raises:
        ValueError: It is not a positive whole number.
    """
    size = getattr(model_class, "buffer_size", None)
    if size is None or isinstance(size, property):
        return None
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise ValueError(f"buffer_size is {size!r}; wanted a positive number of frames")
    return size


def checked_fps(fps: object) -> float:
    """Return *fps* as a float.

    Raises:
        ValueError: It is not a positive, finite number.
    """
    try:
        rate = float(fps)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        rate = math.nan
    if isinstance(fps, str | bool) or not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"fps is {fps!r}; wanted a positive number of frames per second")
    return rate
