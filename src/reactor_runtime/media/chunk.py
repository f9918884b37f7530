"""Chunk: what the stream needs to know of one ``emit``, whoever made it."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Chunk(Protocol):
    """Pictures and sound that belong together, in canonical layout. The host's ``Chunk`` is one.

    Attributes:
        video: Track name to uint8 RGB ``(T, H, W, 3)``.
        audio: Track name to int16 ``(channels, samples)`` at the track's own sample rate.
        metadata: Track name to one value per frame; of sound, to one value.
        started_at: Monotonic seconds at which the step that made it began.
        compute_s: Seconds of compute it stands for.
        pinned_fps: The author's fps, ``None`` when the rate follows the measured one.
    """

    @property
    def video(self) -> Mapping[str, NDArray[np.uint8]]: ...  # noqa: D102 - described above

    @property
    def audio(self) -> Mapping[str, NDArray[np.int16]]: ...  # noqa: D102

    @property
    def metadata(self) -> Mapping[str, tuple[Any, ...]]: ...  # noqa: D102

    @property
    def started_at(self) -> float: ...  # noqa: D102

    @property
    def compute_s(self) -> float: ...  # noqa: D102

    @property
    def pinned_fps(self) -> float | None: ...  # noqa: D102
