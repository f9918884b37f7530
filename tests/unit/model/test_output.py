from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from reactor_runtime.model.output import Output, Shard, TrackPayload
from reactor_runtime.model.tracks import Audio, Video


class Voice(Audio):
    sample_rate = 16_000


class Picture(Output):
    main_video: Video


class Scene(Picture):
    voice: Voice


def test_tracks_are_what_is_annotated() -> None:
    assert [track.name for track in Scene.__tracks__.values()] == ["main_video", "voice"]
    assert Scene.__tracks__["voice"].sample_rate == 16_000


def test_an_output_is_made_of_exactly_its_tracks() -> None:
    frame, sound = np.zeros((2, 2, 3), np.uint8), np.zeros((1, 9), np.int16)
    scene = Scene(main_video=frame, voice=sound)
    assert scene.main_video is frame
    assert scene.voice is sound
    with pytest.raises(TypeError, match=r"Scene lacks \['voice'\]"):
        Scene(main_video=frame)
    with pytest.raises(TypeError, match=r"Picture has no track \['voice'\]"):
        Picture(main_video=frame, voice=sound)
    with pytest.raises(TypeError):
        Picture(frame)  # type: ignore[call-arg]


def test_postponed_annotations_and_local_classes_work() -> None:
    class Whisper(Audio):
        sample_rate = 8_000

    class Local(Output):
        whisper: "Whisper"

    assert Local.__tracks__["whisper"].sample_rate == 8_000


@pytest.mark.parametrize("options", [{}, {"frozen": True}, {"kw_only": True}, {"slots": True}])
def test_a_dataclass_decorator_changes_nothing(options: dict[str, bool]) -> None:
    class Plain(Output):
        main_video: Video

    Decorated: Any = dataclass(**options)(Plain)  # noqa: N806 - a class
    value = np.zeros((2, 2, 3), np.uint8)
    assert Decorated(main_video=value).main_video is value
    assert list(Decorated.__tracks__) == ["main_video"]
    with pytest.raises(TypeError):
        Decorated(other=value)


def test_a_payload_has_an_array_and_metadata() -> None:
    payload = TrackPayload(np.zeros(3), metadata={"a": 1})
    assert payload.metadata == {"a": 1}
    assert TrackPayload(np.zeros(3)).metadata is None


def test_a_shard_says_which_rows_it_holds() -> None:
    shard = Shard(np.zeros((2, 4, 6, 3)), axis="height", start=2, of=8)
    assert (shard.axis, shard.start, shard.of) == ("height", 2, 8)
    assert Shard(np.zeros(3)).axis == "frames"
    with pytest.raises(ValueError, match="'depth'"):
        Shard(np.zeros(3), axis="depth")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="together"):
        Shard(np.zeros(3), start=2)
