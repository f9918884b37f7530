import pytest

from reactor_runtime.model.pace import checked_fps, class_buffer_frames, class_fps


def test_a_class_pins_its_pace_or_does_not() -> None:
    class Pinned:
        fps = 24
        buffer_size = 3

    class Free:
        @property
        def fps(self) -> float:
            return 9.0

    assert (class_fps(Pinned), class_buffer_frames(Pinned)) == (24.0, 3)
    assert (class_fps(Free), class_buffer_frames(Free)) == (None, None)


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf"), "24", True, [1]])
def test_an_impossible_rate_is_named(fps: object) -> None:
    with pytest.raises(ValueError, match="wanted a positive number of frames per second"):
        checked_fps(fps)


@pytest.mark.parametrize("size", [0, -1, 1.5, True, "2"])
def test_an_impossible_bound_is_named(size: object) -> None:
    kind = type("Model", (), {"buffer_size": size})
    with pytest.raises(ValueError, match="wanted a positive number of frames"):
        class_buffer_frames(kind)
