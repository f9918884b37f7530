"""What a fake client receives: frames, messages and failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Frame:
    """One picture, or one stretch of sound, as the model emitted it.

    Attributes:
        track: The output track.
        data: uint8 RGB ``(H, W, 3)``; of a sound track int16 ``(channels, samples)`` at its rate.
        time_s: Media time: seconds from the session's start to when it is shown.
        metadata: What the author attached, if anything.
    """

    track: str
    data: NDArray[Any]
    time_s: float
    metadata: Any = None

    def __repr__(self) -> str:
        """Say what ``data`` is, not all of it: pytest prints what a failed test compared."""
        data = f"<{self.data.dtype} {self.data.shape}>"
        more = "" if self.metadata is None else f", metadata={self.metadata!r}"
        return f"Frame(track={self.track!r}, data={data}, time_s={self.time_s!r}{more})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return ``data``: numpy's functions take a frame as they take an array."""
        return np.array(self.data, dtype=dtype, copy=True if copy else None)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the model.

    Attributes:
        name: Its wire name.
        body: Its fields, as JSON has them: every number may be a float.
    """

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """What clients are told when their session fails.

    Attributes:
        code: What kind of failure.
        message: For people; safe for strangers: an exception's type, never its text.
    """

    code: str
    message: str
