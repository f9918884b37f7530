"""What an emitted array must look like, and its one canonical layout.

Nothing here writes into an author's array, and nothing is copied that is canonical already. torch
is never imported: a tensor is whatever can ``detach()``, and move to the ``cpu()``. The result may
be a view of any strides, read-only included.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.errors import FrameError

Pictures = NDArray[np.uint8]  # (T, H, W, 3) RGB
Sound = NDArray[np.int16]  # (channels, samples)

WANTED_VIDEO = "wanted (H, W, 3) or (T, H, W, 3), uint8 RGB or floats in [0, 1]"
WANTED_AUDIO = "wanted (channels, samples){}, int16 or floats in [-1, 1], one or two channels"

# Decoders and half precision overshoot by about this much; more means another range was meant.
_VIDEO_SLACK = 0.01
# A mix that peaks a little is clipped; samples this large were meant as int16.
_LOUDEST = 4.0


def canonical_video(track: str, value: Any) -> Pictures:
    """Return *value* as pictures, uint8 RGB ``(T, H, W, 3)``.

    Args:
        track: Name of the track, for the error.
        value: An array or tensor, on any device: ``(H, W, 3)``, ``(T, H, W, 3)``, or with the
            channels first where that is unambiguous; uint8, or floats in [0, 1].

    Raises:
        FrameError: It is anything else.
    """
    array = _array(track, value, WANTED_VIDEO, scale=_to_byte_tensor)
    if array.dtype != np.uint8 and array.dtype.kind != "f":
        raise _wrong(track, array, f"pictures have another dtype; {WANTED_VIDEO}")
    if 0 in array.shape:
        raise _wrong(track, array, f"there is no picture in it; {WANTED_VIDEO}")
    pictures = _channels_last(track, array)
    if pictures.dtype == np.uint8:
        return pictures
    _check_range(track, array, float(array.min()), float(array.max()))
    return _to_bytes(pictures)


def canonical_audio(track: str, value: Any, sample_rate: int | None = None) -> Sound:
    """Return *value* as sound, int16 ``(channels, samples)``.

    Args:
        track: Name of the track, for the error.
        value: An array or tensor: ``(channels, samples)``, ``(samples,)`` for mono, or
            ``(samples, channels)`` where that is unambiguous; int16, or floats, of which what is
            beyond [-1, 1] is clipped. It may hold no sample at all.
        sample_rate: Samples per second of the track, for the error.

    Raises:
        FrameError: It is anything else, or a float is not finite.
    """
    wanted = WANTED_AUDIO.format(f" at {sample_rate} Hz" if sample_rate else "")
    array = _array(track, value, wanted)
    if array.dtype != np.int16 and array.dtype.kind != "f":
        raise _wrong(track, array, f"samples have another dtype; {wanted}")
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or not {1, 2} & set(array.shape):
        raise _wrong(track, array, f"the shape is not one of sound; {wanted}")
    if array.shape[0] not in (1, 2):
        array = array.T
    return array if array.dtype == np.int16 else _to_samples(track, array)


def _array(
    track: str, value: Any, wanted: str, *, scale: Callable[[str, Any], Any] | None = None
) -> NDArray[Any]:
    """Return *value* as an array; *scale* may first shrink a float tensor of another device."""
    if isinstance(value, np.ndarray):
        return value
    name = type(value).__name__
    try:
        if _is_tensor(value):
            is_far = scale and value.device.type != "cpu" and value.is_floating_point()
            return _from_tensor(scale(track, value) if scale and is_far else value)
        if hasattr(value, "__array__"):
            return np.asarray(value)
    except FrameError:
        raise
    except Exception as error:  # sparse, quantised, without data: each fails in its own way
        raise FrameError(track, f"this {name} is no plain array: {error}; {wanted}") from error
    raise FrameError(track, f"{name} is no array or tensor; {wanted}")


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and hasattr(value, "cpu")


def _to_byte_tensor(track: str, tensor: Any) -> Any:
    """Scale where the floats are: a quarter of the bytes leave the device."""
    tensor = tensor.detach().float()
    if tensor.numel():
        low, high = (float(bound) for bound in tensor.aminmax())
        _check_range(track, tensor, low, high)
    return tensor.mul(255.0).round_().clamp_(0.0, 255.0).byte()


def _from_tensor(tensor: Any) -> NDArray[Any]:
    tensor = tensor.detach()
    if str(tensor.dtype).endswith("bfloat16"):  # the one float that numpy has no word for
        tensor = tensor.float()
    return cast("NDArray[Any]", tensor.cpu().numpy())


def _channels_last(track: str, array: NDArray[Any]) -> NDArray[Any]:
    stack = array[None] if array.ndim == 3 else array
    if stack.ndim == 4 and stack.shape[3] == 3:
        return stack
    if stack.ndim == 4 and stack.shape[1] == 3:
        return stack.transpose(0, 2, 3, 1)
    raise _wrong(track, array, f"the shape is not one of RGB pictures; {WANTED_VIDEO}")


def _check_range(track: str, array: Any, low: float, high: float) -> None:
    if not (low >= -_VIDEO_SLACK and high <= 1 + _VIDEO_SLACK):  # NaN fails both
        reason = f"values range from {low:g} to {high:g}; float pictures are in [0, 1]"
        raise _wrong(track, array, reason)


def _to_bytes(pictures: NDArray[Any]) -> Pictures:
    scaled = np.multiply(pictures, 255.0, dtype=np.float32, order="C")
    np.rint(scaled, out=scaled)
    np.clip(scaled, 0.0, 255.0, out=scaled)
    return cast("Pictures", scaled.astype(np.uint8))


def _to_samples(track: str, array: NDArray[Any]) -> Sound:
    loudest = float(np.abs(array).max()) if array.size else 0.0
    if not loudest <= _LOUDEST:  # NaN fails too
        found = "not all are finite" if not np.isfinite(loudest) else f"the loudest is {loudest:g}"
        raise _wrong(track, array, f"{found}; float samples are in [-1, 1]")
    scaled = np.multiply(array, 32767.0, dtype=np.float32, order="C")
    np.rint(scaled, out=scaled)
    np.clip(scaled, -32768.0, 32767.0, out=scaled)
    return cast("Sound", scaled.astype(np.int16))


def _wrong(track: str, array: Any, reason: str) -> FrameError:
    return FrameError(track, reason, tuple(array.shape), str(array.dtype))
