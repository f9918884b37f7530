"""Tracks: what Output and MediaInput annotate, however it is written."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from reactor_runtime import (
    Audio,
    Input,
    InputBuffer,
    MediaInput,
    Output,
    ReactorModel,
    Track,
    Video,
)
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.media_input import media_handles
from reactor_runtime.model.tracks import TrackDirection, TrackKind, declared_tracks


class Voice(Audio):
    sample_rate = 16_000


class Camera(Video):
    buffer_seconds = 2.0


class Picture(Output):
    main_video: Video
    voice: Voice
    note: ClassVar[str] = "not a track"
    _mine: int = 3


class Sources(MediaInput):
    webcam: Camera
    mic: Audio


def test_tracks_are_read_in_order_with_their_markers() -> None:
    assert Picture.__tracks__ == {
        "main_video": Track(name="main_video", kind=TrackKind.VIDEO, direction=TrackDirection.OUT),
        "voice": Track(
            name="voice", kind=TrackKind.AUDIO, direction=TrackDirection.OUT, sample_rate=16_000
        ),
    }
    webcam, mic = Sources.__tracks__.values()
    assert (webcam.direction, webcam.buffer_seconds) == (TrackDirection.IN, 2.0)
    assert (mic.sample_rate, mic.buffer_seconds) == (48_000, None)


def test_the_default_rate_is_48_khz() -> None:
    assert Audio.sample_rate == 48_000


def test_tracks_are_inherited_and_a_redeclared_one_replaces_in_place() -> None:
    class Wider(Picture):
        voice: Audio
        depth: Video

    assert list(Wider.__tracks__) == ["main_video", "voice", "depth"]
    assert Wider.__tracks__["voice"].sample_rate == 48_000
    assert Picture.__tracks__["voice"].sample_rate == 16_000


def test_postponed_annotations_of_local_classes_are_read() -> None:
    class Deep(Audio):
        sample_rate = 8_000

    class Local(Output):
        picture: "Video"
        sound: "Deep"

    assert [t.sample_rate for t in Local.__tracks__.values()] == [None, 8_000]


def test_a_dataclass_decorator_changes_no_track() -> None:
    @dataclass
    class Framed(Output):
        main_video: Video
        sound: Audio

    assert list(Framed.__tracks__) == ["main_video", "sound"]
    framed: Any = Framed
    assert framed(main_video=1, sound=2).main_video == 1

    @dataclass
    class Seen(MediaInput):
        webcam: Video

    assert list(Seen.__tracks__) == ["webcam"]


@pytest.mark.parametrize("annotation", [int, "np.ndarray", "Vidoe", list[Video], None])
def test_what_is_no_track_is_a_type_error_naming_it(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"Wrong\.picture.*Video"):
        type("Wrong", (Output,), {"__annotations__": {"picture": annotation}})


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        (type("Bad", (Audio,), {"sample_rate": 0}), "sample_rate is 0"),
        (type("Bad", (Audio,), {"sample_rate": "48k"}), "sample_rate is '48k'"),
        (type("Bad", (Video,), {"buffer_seconds": -1}), "buffer_seconds is -1"),
    ],
)
def test_a_marker_that_makes_no_sense_is_a_type_error(marker: type, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        type("Wrong", (MediaInput,), {"__annotations__": {"sound": marker}})


def test_the_function_reads_any_class() -> None:
    assert declared_tracks(Picture, TrackDirection.IN)[0].direction is TrackDirection.IN


# --- inputs ------------------------------------------------------------------------------------


def test_input_is_media_input() -> None:
    assert Input is MediaInput


def test_an_instance_holds_a_buffer_per_track() -> None:
    sources = Sources()
    assert isinstance(sources.webcam, InputBuffer)
    assert sources.mic.track == Sources.__tracks__["mic"]
    assert Sources().webcam is not sources.webcam


def test_a_model_may_have_several_handles_of_any_name() -> None:
    class Screen(MediaInput):
        desktop: Video

    class Model(ReactorModel):
        input: Sources
        other_eye: "Screen | None"
        net: "torch.nn.Module"  # type: ignore[name-defined]  # noqa: F821

    assert media_handles(Model) == {"input": Sources, "other_eye": Screen}
    contract = ModelContract.of(Model)
    assert contract.inputs == {"input": Sources, "other_eye": Screen}
    inputs = [t.name for t in contract.tracks if t.direction is TrackDirection.IN]
    assert inputs == ["webcam", "mic", "desktop"]


def test_handles_are_inherited() -> None:
    class Model(ReactorModel):
        sources: Sources

    class Child(Model):
        pass

    assert media_handles(Child) == {"sources": Sources}


def test_one_name_for_two_tracks_is_an_error_naming_both_classes() -> None:
    class Mirror(Output):
        webcam: Video

    class Model(ReactorModel):
        sources: Sources

        def generate(self, input: Any) -> Mirror:
            return Mirror(webcam=None)

    with pytest.raises(TypeError, match="Mirror and Sources both declare the track 'webcam'"):
        ModelContract.of(Model)
