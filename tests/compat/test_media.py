"""Pictures and sound, in and out: tracks, payloads, arrays, buffers, rate."""

from typing import Any

import numpy as np
import pytest
from tests.compat.adapters.annotates_frames import AnnotatesFrames
from tests.compat.adapters.drives_workers import DrivesWorkers
from tests.compat.adapters.emits_awkward_arrays import EmitsAwkwardArrays
from tests.compat.adapters.flushes_what_is_queued import FlushesWhatIsQueued
from tests.compat.adapters.looks_through_three_cameras import LooksThroughThreeCameras
from tests.compat.adapters.pins_its_rate import PinsItsRate
from tests.compat.adapters.reads_as_it_likes import ReadsAsItLikes
from tests.compat.adapters.speaks_at_16k import SpeaksAt16k
from tests.compat.adapters.talks_full_duplex import TalksFullDuplex
from tests.compat.conftest import Play, everywhere, in_process, under_the_kit
from tests.e2e.tones import strongest_hz

RATE = {"kit": 24_000, "peer": 48_000}


@everywhere
def test_three_cameras_in_and_messages_only_out(play: Play) -> None:
    client = play(LooksThroughThreeCameras).connect()
    greys = {"left": 40, "middle": 120, "right": 200}
    for _ in range(50):
        client.show(**greys)
        seen = client.hear("seen")["greys"]
        if seen == pytest.approx(list(greys.values()), abs=4):
            return
    pytest.fail(f"never seen apart: {seen}")


@everywhere
def test_what_is_heard_is_the_clock_of_sound_and_twelve_and_a_half_pictures(
    play: Play, place: str
) -> None:
    client = play(TalksFullDuplex).connect()
    client.speak("mic", 2.0)
    rate = RATE[place.split("_")[0]]
    sound = np.array(client.listen("main_audio", rate), np.int16)
    assert strongest_hz(sound, rate=rate) == pytest.approx(440, abs=4)
    client.see(100, 100, 100)


def test_a_voice_has_a_rate_of_its_own(play: Play, place: str) -> None:
    client = play(SpeaksAt16k).connect()
    rate = {"kit": 16_000, "peer": 48_000}[place.split("_")[0]]
    sound = np.array(client.listen("voice", rate // 2), np.int16)
    assert strongest_hz(sound, rate=rate) == pytest.approx(400, abs=4)
    assert 5_000 < np.abs(sound).max() < 20_000
    client.see(45)


def test_payloads_with_metadata_are_pictures_like_others(play: Play) -> None:
    play(AnnotatesFrames).connect().see(55, 65, 55)


@under_the_kit
def test_metadata_is_one_for_all_or_one_for_each(serve_model: Any, place: str) -> None:
    client = serve_model(AnnotatesFrames, world_size=2 if place == "kit_2" else 1).connect()
    frames = client.frames("main_video", 4)
    assert [frame.metadata for frame in frames] == [{"scene": 1}, {"scene": 1}, {"n": 0}, {"n": 1}]


def test_arrays_may_be_read_only_crooked_and_reused(play: Play) -> None:
    play(EmitsAwkwardArrays).connect().see(40, 80, 120, 120, 160, 40)


def test_a_buffer_is_read_in_every_way(play: Play) -> None:
    client = play(ReadsAsItLikes).connect()
    for grey in (90, 90, 90):
        client.show(camera=grey)
    client.see(90)
    counts = client.send("counts")
    assert counts is not None
    assert counts.body["received"] >= 2
    assert (counts.body["available"], counts.body["is_closed"]) == (0, False)
    assert counts.body["is_empty"] is True
    client.show(camera=170)
    client.see(170)


@under_the_kit
def test_a_rate_is_pinned_on_the_class_in_load_and_at_any_time(
    serve_model: Any, place: str
) -> None:
    served = serve_model(PinsItsRate, world_size=2 if place == "kit_2" else 1)
    client = served.connect()
    assert client.send("rate").body == {"fps": 12.5}
    first, second = client.frames("main_video", 2)
    assert second.time_s - first.time_s == pytest.approx(1 / 12.5)
    assert client.send("pace", {"fps": 25}).body == {"fps": 25}
    times = [frame.time_s for frame in client.frames("main_video", 6)]
    assert times[-1] - times[-2] == pytest.approx(1 / 25)


def test_a_flush_drops_what_was_not_shown(play: Play) -> None:
    client = play(FlushesWhatIsQueued).connect()
    client.see(60)
    client.send("cut", scene=180)
    client.see(180)


@in_process
def test_a_model_may_drive_workers_of_its_own(play: Play) -> None:
    stage = play(DrivesWorkers)
    client = stage.connect()
    client.see(110)
    client.send("set_level", level=80)
    client.see(180)
    stage.end_session()
    stage.connect().see(110)
