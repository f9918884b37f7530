"""Tap: who takes the stream itself, before any viewer's encoder.

timeline ─► lane ─┬─► encode for viewers ─► FanOut
                  └─► Tap
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.media.timeline import Said, Shown


class Tap(Protocol):
    """Takes what is shown and heard; called on the lanes' threads, returns at once, never raises.

    Pictures come in the order of their times, each once; what is shown again for somebody who
    joins is not among them. Sound comes without a gap for as long as the tap is open.
    """

    @property
    def is_open(self) -> bool:
        """Whether it takes anything now; may change at any moment."""
        ...

    def picture(self, shown: Shown) -> None:
        """Take a picture whose time has come. Its pixels may be read, its frame not be changed."""
        ...

    def sound(
        self, presented_at: float, samples: NDArray[np.int16], said: Sequence[Said] = ()
    ) -> None:
        """Take sound that begins at *presented_at*, monotonic seconds.

        Args:
            presented_at: On the same timeline as the times of the pictures.
            samples: int16 ``(n, 2)`` at 48 kHz.
            said: What the author said of the sound that begins in it.
        """
        ...
