import pytest

from reactor_runtime.errors import SettingError
from reactor_runtime.manifest import Recording
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.recording.recorded_tracks import recorded_tracks


def track(name: str, kind: TrackKind, direction: TrackDirection = TrackDirection.OUT) -> Track:
    return Track(name=name, kind=kind, direction=direction)


TRACKS = (
    track("webcam", TrackKind.VIDEO, TrackDirection.IN),
    track("first_view", TrackKind.VIDEO),
    track("second_view", TrackKind.VIDEO),
    track("voice", TrackKind.AUDIO),
)


def test_without_a_wish_the_first_output_of_each_kind_is_recorded() -> None:
    assert recorded_tracks(TRACKS, Recording()) == ("first_view", "voice")
    assert recorded_tracks((), Recording()) == (None, None)


def test_a_wish_is_fulfilled() -> None:
    wished = Recording(video_track="second_view")
    assert recorded_tracks(TRACKS, wished) == ("second_view", "voice")


@pytest.mark.parametrize("chosen", ["third_view", "voice", "webcam"])
def test_a_track_that_is_no_such_output_is_refused_by_name(chosen: str) -> None:
    wanted = f"recording.video_track: found {chosen}; wanted one of its output tracks: first_view"
    with pytest.raises(SettingError, match=wanted):
        recorded_tracks(TRACKS, Recording(video_track=chosen))
    with pytest.raises(SettingError, match="wanted none"):
        recorded_tracks((), Recording(video_track=chosen))
