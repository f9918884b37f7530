from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.errors import FrameError
from reactor_runtime.model.frames import canonical_audio, canonical_video

RNG = np.random.default_rng(0)
PICTURE = RNG.integers(0, 256, (5, 7, 3), np.uint8)
CHUNK = RNG.integers(0, 256, (2, 5, 7, 3), np.uint8)


# --- pictures ---


@pytest.mark.parametrize("value", [PICTURE, CHUNK], ids=["frame", "chunk"])
def test_bytes_with_the_channels_last_are_taken_as_they_are(value: np.ndarray) -> None:
    pictures = canonical_video("v", value)
    assert pictures.ndim == 4
    assert np.shares_memory(pictures, value)
    assert np.array_equal(pictures.reshape(value.shape), value)


def test_read_only_and_strided_arrays_are_taken_without_a_copy() -> None:
    flipped = PICTURE[:, ::-1]
    flipped.flags.writeable = False
    pictures = canonical_video("v", flipped)
    assert np.shares_memory(pictures, PICTURE)
    assert np.array_equal(pictures[0], PICTURE[:, ::-1])


@pytest.mark.parametrize("axes", [(2, 0, 1), (0, 3, 1, 2)], ids=["frame", "chunk"])
def test_channels_may_come_first(axes: tuple[int, ...]) -> None:
    value = (PICTURE if len(axes) == 3 else CHUNK).transpose(axes)
    pictures = canonical_video("v", value)
    assert np.array_equal(pictures.reshape(-1), (PICTURE if len(axes) == 3 else CHUNK).reshape(-1))


def test_where_both_layouts_fit_the_channels_are_last() -> None:
    value = RNG.integers(0, 256, (3, 7, 3), np.uint8)
    assert np.array_equal(canonical_video("v", value)[0], value)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_are_scaled(dtype: type) -> None:
    value: np.ndarray = np.array([[[0, 0.5, 1]]], dtype)
    before = value.copy()
    assert canonical_video("v", value).tolist() == [[[[0, 128, 255]]]]
    assert np.array_equal(value, before)


def test_a_little_overshoot_is_clipped() -> None:
    value = np.array([[[-0.005, 1.005, 0.0]]], np.float32)
    assert canonical_video("v", value).tolist() == [[[[0, 255, 0]]]]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros((4, 6), np.uint8), ["(4, 6)", "uint8", "(H, W, 3)"]),
        (np.zeros((4, 6, 4), np.uint8), ["(4, 6, 4)"]),
        (np.zeros((4, 6, 1), np.uint8), ["(4, 6, 1)"]),
        (np.zeros((1, 2, 4, 6, 3), np.uint8), ["(1, 2, 4, 6, 3)"]),
        (np.zeros((4, 6, 3), np.int64), ["int64", "uint8 RGB or floats"]),
        (np.zeros((4, 6, 3), bool), ["bool"]),
        (np.zeros((0, 4, 6, 3), np.uint8), ["no picture", "(0, 4, 6, 3)"]),
        (np.zeros((0, 6, 3), np.float32), ["no picture"]),
        (np.full((4, 6, 3), 200.0), ["range from 200 to 200", "[0, 1]"]),
        (np.full((4, 6, 3), -0.5), ["range from -0.5"]),
        (np.full((4, 6, 3), np.nan), ["range from nan"]),
        ([[[1, 2, 3]]], ["list is no array"]),
        (None, ["NoneType is no array"]),
    ],
)
def test_what_is_no_picture_is_named(value: object, words: list[str]) -> None:
    with pytest.raises(FrameError) as caught:
        canonical_video("main_video", value)
    assert caught.value.track == "main_video"
    assert all(word in str(caught.value) for word in ["'main_video'", *words])


@given(
    shape=st.lists(st.integers(0, 4), max_size=5),
    dtype=st.sampled_from(["uint8", "float32", "int16", "bool", "complex64"]),
)
def test_any_array_is_canonical_or_named(shape: list[int], dtype: str) -> None:
    value = np.zeros(shape, dtype)
    try:
        pictures = canonical_video("v", value)
    except FrameError as error:
        assert error.shape == tuple(shape)  # noqa: PT017 - both ways out are right
        return
    assert pictures.dtype == np.uint8
    assert pictures.ndim == 4
    assert pictures.shape[3] == 3
    assert pictures.size == value.size > 0


# --- sound ---


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((960,), (1, 960)),
        ((1, 960), (1, 960)),
        ((2, 960), (2, 960)),
        ((960, 1), (1, 960)),
        ((960, 2), (2, 960)),
        ((2, 2), (2, 2)),
        ((1, 0), (1, 0)),
        ((0,), (1, 0)),
        ((0, 2), (2, 0)),
    ],
)
def test_sound_has_its_channels_first(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    value = RNG.integers(-9, 9, shape, np.int16)
    sound = canonical_audio("a", value)
    assert sound.shape == wanted
    assert np.shares_memory(sound, value) or not value.size
    assert np.array_equal(np.sort(sound, axis=None), np.sort(value, axis=None))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_float_samples_are_scaled_and_clipped(dtype: type) -> None:
    value: np.ndarray = np.array([0, 1, -1, 1.5, -2], dtype)
    assert canonical_audio("a", value).tolist() == [[0, 32767, -32767, 32767, -32768]]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros((3, 960), np.int16), ["(3, 960)", "one or two channels"]),
        (np.zeros((1, 2, 960), np.int16), ["(1, 2, 960)"]),
        (np.zeros((), np.int16), ["()"]),
        (np.zeros((1, 960), np.int32), ["int32", "int16 or floats"]),
        (np.array([0, np.nan], np.float32), ["finite"]),
        (np.array([0, np.inf], np.float32), ["finite"]),
        (np.array([12_000.0], np.float32), ["the loudest is 12000", "[-1, 1]"]),
        (b"raw", ["bytes is no array"]),
    ],
)
def test_what_is_no_sound_is_named(value: object, words: list[str]) -> None:
    with pytest.raises(FrameError) as caught:
        canonical_audio("voice", value)
    assert all(word in str(caught.value) for word in ["'voice'", *words])


def test_the_rate_of_the_track_is_named_with_what_is_wanted() -> None:
    for value in (np.zeros((3, 960), np.int16), np.zeros((1, 960), np.int32), b"raw"):
        with pytest.raises(FrameError, match="at 16000 Hz"):
            canonical_audio("voice", value, 16_000)


# --- tensors, and others ---


def test_anything_that_is_an_array_to_numpy_is_one() -> None:
    class Foreign:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return PICTURE

    assert np.array_equal(canonical_video("v", Foreign())[0], PICTURE)


class Refuses:
    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        raise ValueError("not now")


@pytest.mark.parametrize("canonical", [canonical_video, canonical_audio])
def test_what_cannot_become_an_array_is_named(canonical: Callable[..., object]) -> None:
    with pytest.raises(FrameError, match=r"'t': this Refuses is no plain array: not now; wanted"):
        canonical("t", Refuses())


@pytest.mark.torch
@pytest.mark.parametrize("canonical", [canonical_video, canonical_audio])
@pytest.mark.parametrize("kind", ["meta", "sparse", "float8"])
def test_a_tensor_that_cannot_become_an_array_is_named(
    canonical: Callable[..., object], kind: str
) -> None:
    torch = pytest.importorskip("torch")
    plain = torch.zeros(4, 6, 3)
    tensor = {
        "meta": lambda: plain.to("meta"),
        "sparse": plain.to_sparse,
        "float8": lambda: plain.to(torch.float8_e4m3fn),
    }[kind]()
    with pytest.raises(FrameError, match="'t': this Tensor is no plain array"):
        canonical("t", tensor)


@pytest.mark.torch
def test_floats_are_scaled_before_they_leave_a_device() -> None:
    torch = pytest.importorskip("torch")
    left: list[str] = []

    class OnDevice(torch.Tensor):  # type: ignore[name-defined, misc]
        """A tensor that says it is elsewhere, and notes what is fetched."""

        @property
        def device(self) -> object:
            return torch.device("cuda:0")

        def cpu(self) -> object:
            left.append(str(self.dtype))
            return self.as_subclass(torch.Tensor)

    picture = torch.full((3, 4, 6), 0.5, dtype=torch.bfloat16).as_subclass(OnDevice)
    pictures = canonical_video("v", picture)
    assert pictures.shape == (1, 4, 6, 3)
    assert set(pictures.flat) == {128}
    with pytest.raises(FrameError, match="range from 0 to 2"):
        canonical_video("v", torch.tensor([0.0, 2.0, 1.0]).expand(4, 6, 3).as_subclass(OnDevice))
    with pytest.raises(FrameError, match="no picture"):
        canonical_video("v", torch.zeros(0, 4, 6, 3).as_subclass(OnDevice))
    canonical_video("v", torch.zeros(4, 6, 3, dtype=torch.uint8).as_subclass(OnDevice))
    assert set(left) == {"torch.uint8"}


@pytest.mark.torch
def test_tensors_are_taken_from_any_layout_and_dtype() -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(PICTURE.copy())
    assert np.array_equal(canonical_video("v", tensor)[0], PICTURE)
    assert np.array_equal(canonical_video("v", tensor.permute(2, 0, 1))[0], PICTURE)
    half = torch.full((3, 4, 6), 0.5, dtype=torch.bfloat16, requires_grad=True)
    assert set(canonical_video("v", half).flat) == {128}
    assert canonical_audio("a", torch.zeros(960)).shape == (1, 960)
    with pytest.raises(FrameError, match="int64"):
        canonical_video("v", torch.zeros(4, 6, 3, dtype=torch.int64))
