import copy
import pickle

import pytest

from reactor_runtime.model.idle import Idle, _IdleType
from reactor_runtime.model.output import Output
from reactor_runtime.model.step import StepCompleted, StepOutcome, together
from reactor_runtime.model.tracks import Video


class Picture(Output):
    main_video: Video


PICTURE = Picture(main_video=None)


def test_an_outcome_becomes_what_is_shown() -> None:
    assert StepOutcome(result=PICTURE).to_output() is PICTURE
    assert StepOutcome(result=None).to_output() is None
    assert StepOutcome(result=Idle).to_output() is None
    with pytest.raises(ValueError, match="broken"):
        StepOutcome(error=ValueError("broken"), elapsed=0.1).to_output()


def test_idle_is_one_false_object() -> None:
    assert not Idle
    assert repr(Idle) == "Idle"
    assert isinstance(Idle, _IdleType)
    assert copy.deepcopy(Idle) is Idle
    assert pickle.loads(pickle.dumps(Idle)) is Idle
    assert _IdleType() is Idle


def test_a_report_has_an_output_files_an_error_and_a_time() -> None:
    report = StepCompleted(output=PICTURE, files={"depth.bin": b"1"}, error="bad", elapsed=0.5)
    assert (report.output, report.files) == (PICTURE, {"depth.bin": b"1"})
    assert StepCompleted() == StepCompleted(output=None, files={}, error=None, elapsed=None)
    assert StepCompleted(output=Idle).output is None  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "/a", "nul\0", "result.json",
                                  "output.mp4"])  # fmt: skip
def test_a_files_name_is_one_free_path_segment(name: str) -> None:
    with pytest.raises(ValueError, match="file"):
        StepCompleted(files={name: b""})


def test_a_files_content_is_bytes() -> None:
    with pytest.raises(TypeError, match=r"'a.txt' must be bytes, not str"):
        StepCompleted(files={"a.txt": "text"})  # type: ignore[dict-item]


def test_whatever_a_step_returns_is_a_report() -> None:
    report = StepCompleted(output=PICTURE)
    assert StepCompleted.of(report) is report
    assert StepCompleted.of(PICTURE, 0.5) == StepCompleted(output=PICTURE, elapsed=0.5)
    assert StepCompleted.of(None).output is None
    assert StepCompleted.of(Idle).output is None
    with pytest.raises(TypeError, match="not dict"):
        StepCompleted.of({"main_video": 1})


def test_reports_of_one_step_are_kept_together() -> None:
    first = StepCompleted(output=PICTURE, files={"a": b"1"}, error="bad", elapsed=0.5)
    both = together(first, StepCompleted(files={"b": b"2"}))
    assert both == StepCompleted(
        output=PICTURE, files={"a": b"1", "b": b"2"}, error="bad", elapsed=0.5
    )
    assert together(both, StepCompleted(error="worse")).error == "worse"


def test_two_files_of_one_step_have_two_names() -> None:
    report = StepCompleted(files={"a": b"1"})
    with pytest.raises(ValueError, match="this step has a file 'a' already: a turn is one step"):
        together(report, StepCompleted(files={"a": b"2"}))
