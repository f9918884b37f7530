"""StretchWatch: notices pictures that their sound holds back.

A chunk lasts as long as its sound. An author who answers all the sound that came in with one
picture gets a slow picture after the first hiccup, for good: the longer a chunk lasts, the more
sound the next step finds.
"""

from reactor_runtime.log import get_logger

log = get_logger(__name__)

_MUCH = 2.0  # times as long as the pinned fps lets a picture stand
_FOR_S = 2.0  # a hiccup is over by then


class StretchWatch:
    """Warns, once, when sound has made the pictures slow for two seconds on end."""

    def __init__(self) -> None:
        self._stretched_s = 0.0
        self._has_warned = False

    def note(self, *, frames: int, sound_s: float, pinned_fps: float | None) -> None:
        """Look at one chunk: its pictures, its sound in seconds, the author's fps."""
        if not (frames and sound_s and pinned_fps) or sound_s * pinned_fps < _MUCH * frames:
            self._stretched_s = 0.0
            return
        self._stretched_s += sound_s
        if self._stretched_s >= _FOR_S and not self._has_warned:
            self._has_warned = True
            log.warning(
                "sound_slows_pictures",
                pinned_fps=pinned_fps,
                shown_fps=round(frames / sound_s, 1),
                advice="an output lasts as long as its sound: give it a picture for each 1/fps of "
                "it, or less sound",
            )
