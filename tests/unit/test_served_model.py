from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reactor_runtime import Audio, InputState, Output, ReactorPipeline, Video
from reactor_runtime.clock import SystemClock
from reactor_runtime.errors import SettingError
from reactor_runtime.host.host_settings import OnFailure
from reactor_runtime.manifest import Recording
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model_import import import_model_class
from reactor_runtime.served_model import (
    buffer_frames,
    host_settings,
    make_served_model,
    media_settings,
    session_settings,
    web_rtc_settings,
)
from reactor_runtime.served_recordings import make_recorder, open_shelf
from reactor_runtime.setting_kinds import Resolution, TurnServer
from reactor_runtime.settings import ServeSettings
from reactor_runtime.webrtc.web_rtc_settings import IceServer, PlayoutDelay


def settings(**values: Any) -> ServeSettings:
    return ServeSettings(model_ref="model:Model", folder=Path("/"), **values)


class Plain:
    pass


class Deep:
    buffer_size = 7


def test_media_gets_limits_and_the_authors_buffer() -> None:
    told = media_settings(
        settings(bitrate=1_000_000, max_fps=25.0, max_resolution=Resolution(width=640, height=360)),
        Deep,
    )
    assert (told.bitrate, told.max_fps) == (1_000_000, 25.0)
    assert (told.max_width, told.max_height, told.buffer_frames) == (640, 360, 7)
    plain = media_settings(settings(), Plain)
    assert (plain.max_width, plain.max_height, plain.buffer_frames) == (None, None, None)


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "8"])
def test_a_buffer_that_holds_nothing_is_refused_by_name(size: object) -> None:
    model = type("Model", (), {"buffer_size": size})
    with pytest.raises(SettingError, match=r"Model\.buffer_size: found .*; wanted a whole number"):
        buffer_frames(model)


def test_the_ends_of_session_and_host_fit_into_the_grace() -> None:
    short = settings(stop_grace_s=10.0)
    host, session = host_settings(short), session_settings(short)
    assert host.stop_timeout_s + session.shutdown_s < 10.0 - 2.0
    for_ever = settings(stop_grace_s=0.0)
    assert host_settings(for_ever).stop_timeout_s > 86_400
    assert session_settings(for_ever).shutdown_s > 86_400


def test_the_host_gets_deadlines_and_the_rule_after_a_failure() -> None:
    told = host_settings(settings(turn_timeout_s=3.0, first_turn_timeout_s=4.0, on_failure="exit"))
    assert (told.turn_timeout_s, told.first_turn_timeout_s) == (3.0, 4.0)
    assert told.on_failure is OnFailure.EXIT


def test_connections_get_their_servers_best_first() -> None:
    relay = TurnServer(uri="turn:turn.example", username="u", credential="c")
    told = web_rtc_settings(
        settings(stun=("stun:stun.example",), turn=(relay,), max_connections=3, playout_delay="low")
    )
    assert told.ice_servers == (
        IceServer(uris=("stun:stun.example",)),
        IceServer(uris=("turn:turn.example",), username="u", credential="c"),
    )
    assert told.max_connections == 3
    assert told.playout_delay is PlayoutDelay.ALWAYS


# --- recordings ---


class Film(Output):
    first_view: Video
    second_view: Video
    voice: Audio


class Films(ReactorPipeline):
    state: InputState

    def inference(self) -> Iterator[Film]:
        raise NotImplementedError


SHOWS_NOTHING = """
from reactor_runtime import ReactorModel

class ShowsNothing(ReactorModel):
    async def run(self):
        pass
"""
OUTPUTS = ModelContract.of(Films).tracks


def test_the_manifests_wishes_reach_the_recorder(tmp_path: Path) -> None:
    wishes = Recording(
        enabled=True, chunk_seconds=4.0, clip_max_seconds=0.0, video_track="second_view"
    )
    told = settings(recording=wishes, recordings_path=tmp_path)
    shelf = open_shelf(told, SystemClock(), Metrics())
    assert shelf is not None
    recorder = make_recorder(shelf, OUTPUTS, told, SystemClock(), Metrics())
    assert recorder.chunk_s == 4.0
    assert recorder.tracks == ("second_view", "voice")
    shelf.close()
    assert list(tmp_path.iterdir()) == []


async def test_only_a_model_that_shows_something_is_recorded(tmp_path: Path) -> None:
    told = settings(record=True, recordings_path=tmp_path)
    shelf = open_shelf(told, SystemClock(), Metrics())
    (tmp_path / "shows_nothing.py").write_text(SHOWS_NOTHING)
    nothing = import_model_class("shows_nothing:ShowsNothing", tmp_path)
    for model, is_recorded in ((Films, True), (nothing, False)):
        served = make_served_model(model, told, SystemClock(), Metrics(), shelf)
        recording = served.session.descriptor()["recording"]
        assert recording == {"enabled": is_recorded, "chunk_seconds": 2.0 if is_recorded else 0}
    assert shelf is not None
    shelf.close()


def test_nothing_is_opened_where_nothing_is_recorded(tmp_path: Path) -> None:
    assert open_shelf(settings(recordings_path=tmp_path), SystemClock(), Metrics()) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_used_costs_only_the_recordings(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = settings(record=True, recordings_path=tmp_path / "file")
    assert open_shelf(told, SystemClock(), Metrics()) is None
