import json
from typing import Any

import numpy as np
import pytest
from tests.unit.model.odd_values import Leaves, OnAccelerator, Recurses

from reactor_runtime.recording.cutter import Cut, Cutter
from reactor_runtime.recording.note import Note
from reactor_runtime.recording.take import Fragment


def fragment(start_s: float, end_s: float, film: bytes = b".") -> Fragment:
    return Fragment(start_s=start_s, end_s=end_s, film=film)


def note(at_s: float, value: Any) -> Note:
    return Note(at_s=at_s, track="main", value=value)


def test_a_segment_is_closed_by_the_fragment_that_reaches_the_next_multiple() -> None:
    cutter = Cutter(4.0)
    assert cutter.add(fragment(0, 2, b"a")) is None
    assert cutter.add(fragment(2, 4.02, b"b")) == Cut(start_s=0, end_s=4.02, film=b"ab", notes=b"")
    assert cutter.add(fragment(4.02, 6, b"c")) is None
    assert cutter.finish() == Cut(start_s=4.02, end_s=6, film=b"c", notes=b"")
    assert cutter.finish() is None


def test_after_a_short_one_the_multiples_count_again() -> None:
    cutter = Cutter(2.0)
    assert cutter.add(fragment(0, 1.2)) is None
    assert cutter.finish() is not None
    assert cutter.add(fragment(1.2, 2.0)) is not None
    assert cutter.add(fragment(2.0, 3.99999)) is not None  # a rounding before the multiple
    assert cutter.add(fragment(3.99999, 5)) is None  # begins the next one
    assert cutter.add(fragment(5, 6)) is not None


def test_metadata_lies_with_its_pictures() -> None:
    cutter = Cutter(2.0)
    cutter.note(note(2.0, "of the next one"))
    cutter.note(note(0.5, {"seed": 7, "pose": np.arange(2)}))  # sound and pictures come as they may
    first = cutter.add(fragment(0, 2.0))
    assert first is not None
    assert json.loads(first.notes) == [
        {"time": 0.5, "track": "main", "value": {"seed": 7, "pose": [0, 1]}}
    ]
    second = cutter.add(fragment(2.0, 4.0))
    assert second is not None
    assert json.loads(second.notes) == [{"time": 2.0, "track": "main", "value": "of the next one"}]


def test_what_cannot_be_written_down_is_left_out_with_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cutter = Cutter(2.0)
    for odd in (object(), "x" * 100_000, "half \ud800", OnAccelerator(), Leaves(), Recurses()):
        cutter.note(note(0.1, odd))
    cutter.note(note(0.3, "short"))
    for _ in range(100):
        cutter.note(note(0.4, "ü" * 30_000))
    cut = cutter.add(fragment(0, 2.0))
    assert cut is not None
    notes = json.loads(cut.notes)
    assert [note["value"][:5] for note in notes][:2] == ["short", "üüüüü"]
    assert 4_000_000 < len(cut.notes) < 4 << 20
    assert caplog.text.count("metadata_not_recorded") == 1
