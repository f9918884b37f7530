import pytest

from reactor_runtime.media.stretch_watch import StretchWatch


@pytest.fixture
def watch() -> StretchWatch:
    return StretchWatch()


def note(watch: StretchWatch, chunks: int, **facts: float | None) -> None:
    for _ in range(chunks):
        watch.note(**{"frames": 1, "sound_s": 0.1, "pinned_fps": 30.0} | facts)  # type: ignore[arg-type]


def test_pictures_held_back_by_their_sound_are_reported_once(
    watch: StretchWatch, caplog: pytest.LogCaptureFixture
) -> None:
    note(watch, 100)
    assert caplog.text.count("sound_slows_pictures") == 1
    assert "10.0" in caplog.text


def test_a_hiccup_is_not_reported(watch: StretchWatch, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(10):
        note(watch, 15)
        note(watch, 1, sound_s=1 / 30)
    assert "sound_slows_pictures" not in caplog.text


@pytest.mark.parametrize(
    "facts", [{"frames": 3}, {"frames": 0}, {"pinned_fps": None}, {"pinned_fps": 12.5}]
)
def test_what_is_meant_so_is_not_reported(
    watch: StretchWatch, facts: dict[str, float | None], caplog: pytest.LogCaptureFixture
) -> None:
    note(watch, 100, **facts)
    assert "sound_slows_pictures" not in caplog.text
