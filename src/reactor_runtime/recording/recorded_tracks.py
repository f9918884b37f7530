"""Which tracks of a model are recorded. Pure; ``reactor check`` asks too."""

from collections.abc import Iterable

from reactor_runtime.errors import SettingError
from reactor_runtime.manifest import Recording
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind


def recorded_tracks(tracks: Iterable[Track], wished: Recording) -> tuple[str | None, str | None]:
    """Return the names of the video and of the audio track to record.

    The chosen ones, else the first output of each kind; ``None`` where the model has none.

    Raises:
        SettingError: A chosen one is no output track of its kind.
    """
    outputs = [track for track in tracks if track.direction is TrackDirection.OUT]
    return (
        _recorded(outputs, TrackKind.VIDEO, wished.video_track),
        _recorded(outputs, TrackKind.AUDIO, wished.audio_track),
    )


def _recorded(outputs: Iterable[Track], kind: TrackKind, chosen: str | None) -> str | None:
    names = [track.name for track in outputs if track.kind is kind]
    if chosen is not None and chosen not in names:
        wanted = f"one of its output tracks: {', '.join(names)}" if names else "none: it has none"
        raise SettingError(f"recording.{kind.value}_track", chosen, wanted)
    return chosen or next(iter(names), None)
