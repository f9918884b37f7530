from tests.unit.session.room import FakeRecorder

from reactor_runtime import __version__
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.session.descriptor import make_descriptor
from reactor_runtime.session.session_state import SessionState

TRACKS = (
    Track(name="main_video", kind=TrackKind.VIDEO, direction=TrackDirection.OUT),
    Track(name="voice", kind=TrackKind.AUDIO, direction=TrackDirection.OUT, sample_rate=48_000),
    Track(name="webcam", kind=TrackKind.VIDEO, direction=TrackDirection.IN),
)


def test_the_whole_descriptor() -> None:
    assert make_descriptor(SessionState.WAITING, "worldlet", TRACKS) == {
        "session_id": "00000000-0000-0000-0000-000000000000",
        "state": "waiting",
        "cluster": "local",
        "model": {"name": "worldlet"},
        "server_info": {"server_version": __version__},
        "selected_transport": {"protocol": "webrtc", "version": "1.0"},
        "capabilities": {
            "protocol_version": "v0",
            "tracks": [
                {"name": "main_video", "kind": "video", "direction": "recvonly"},
                {"name": "voice", "kind": "audio", "direction": "recvonly"},
                {"name": "webcam", "kind": "video", "direction": "sendonly"},
            ],
            "commands": [],
        },
        "transports": [{"protocol": "webrtc", "version": "1.0"}],
        "recording": {"enabled": False, "chunk_seconds": 0},
        "step_results": {"enabled": False},
        "generation": "streamed",
    }


def test_until_the_model_has_loaded_there_is_no_name_and_nothing_to_do() -> None:
    descriptor = make_descriptor(SessionState.CREATED, "worldlet", None)
    assert descriptor["model"] == {"name": ""}
    assert descriptor["state"] == "created"
    assert "capabilities" not in descriptor


def test_a_recorded_session_says_so() -> None:
    descriptor = make_descriptor(SessionState.READY, "worldlet", TRACKS, FakeRecorder())
    assert descriptor["recording"] == {"enabled": True, "chunk_seconds": 4.0}
