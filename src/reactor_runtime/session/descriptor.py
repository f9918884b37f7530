"""The session descriptor: what a start and ``GET /session`` answer."""

from collections.abc import Sequence
from typing import Any

from reactor_runtime import __version__
from reactor_runtime.model.tracks import Track, TrackDirection
from reactor_runtime.session.endings import Endings
from reactor_runtime.session.recorder import Recorder
from reactor_runtime.session.request_bodies import STREAMED
from reactor_runtime.session.session_state import SessionState

SESSION_ID = "00000000-0000-0000-0000-000000000000"
"""The id every client uses: there is at most one session, and it is always this one."""


def make_descriptor(
    state: SessionState,
    model_name: str,
    tracks: Sequence[Track] | None,
    recorder: Recorder | None = None,
    endings: Endings | None = None,
) -> dict[str, Any]:
    """Return the descriptor of a session in *state*.

    Args:
        state: Where the session is.
        model_name: What the model is called.
        tracks: The model's tracks; ``None`` while it loads, which leaves name and capabilities out.
        recorder: Who records it, ``None`` for nobody.
        endings: What became of earlier sessions: a client that comes back, or was too late to be
            told, finds there how its session ended.
    """
    chunk_s = 0 if recorder is None else recorder.chunk_s
    descriptor: dict[str, Any] = {
        "session_id": SESSION_ID,
        "state": state.value,
        "cluster": "local",
        "model": {"name": "" if tracks is None else model_name},
        "server_info": {"server_version": __version__},
        "selected_transport": {"protocol": "webrtc", "version": "1.0"},
        "transports": [{"protocol": "webrtc", "version": "1.0"}],
        "recording": {"enabled": recorder is not None, "chunk_seconds": chunk_s},
        "step_results": {"enabled": False},
        "generation": STREAMED,
    }
    if tracks is not None:
        descriptor["capabilities"] = {
            "protocol_version": "v0",
            "tracks": [_client_view(track) for track in tracks],
            "commands": [],
        }
    if endings is not None:
        descriptor["session_number"] = endings.begun
        if endings.last is not None:
            descriptor["ending"] = endings.last.describe()
    return descriptor


def _client_view(track: Track) -> dict[str, str]:
    """Return *track* as a client sees it: what the model puts out, the client receives."""
    direction = "recvonly" if track.direction is TrackDirection.OUT else "sendonly"
    return {"name": track.name, "kind": track.kind.value, "direction": direction}
