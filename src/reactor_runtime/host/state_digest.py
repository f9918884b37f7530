"""The public state of a model as digests, one for each field: equal state, equal digest.

A value is hashed as canonical JSON: keys in order, no blanks. What JSON has no word for is written
as what it is made of; bytes, in arrays, tensors and uploads, as their own hash.
"""

import hashlib
import json
from collections.abc import Mapping, Set
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from reactor_runtime.model.input_state import InputState
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.model.uploaded_file import UploadedFile

AUTHORS_OWN: Final = "lockstep_digest()"


class StateDigest:
    """Makes digests of one rank's model."""

    def __init__(self) -> None:
        encoder = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=self._in_words)
        self._encode = encoder.encode
        self._files: WeakKeyDictionary[UploadedFile, str] = WeakKeyDictionary()  # hashed once

    def of_model(self, model: ReactorModel) -> dict[str, str]:
        """Return a SHA-256 for each public field, and for what ``lockstep_digest()`` returns."""
        state = model.state
        digests: dict[str, str] = {}
        if isinstance(state, InputState):
            for name in type(state)._public_fields:
                digests[f"state.{name}"] = self.of_value(getattr(state, name))
        own = getattr(model, "lockstep_digest", None)
        if callable(own):
            digests[AUTHORS_OWN] = self.of_value(own())
        return digests

    def of_value(self, value: Any) -> str:
        """Return the SHA-256 of a value's canonical JSON."""
        return _hash(self.to_json(value).encode())

    def to_json(self, value: Any) -> str:
        """Return text that equal values have in common, in whichever process.

        An object that does not tell what it is made of is the name of its type.
        """
        try:
            return self._encode(value)
        except (TypeError, ValueError, RecursionError):  # keys that are no text; a value in itself
            return self._encode(self._with_text_keys(value, ()))

    def _in_words(self, value: Any) -> Any:
        """Return what stands for a value that JSON does not know."""
        if hasattr(value, "detach") and hasattr(value, "cpu"):
            return {"tensor": str(value.dtype), **_of_array(_on_the_host(value))}
        if isinstance(value, np.ndarray | np.generic):
            return _of_array(np.asarray(value))
        if isinstance(value, UploadedFile):
            return {"file": [value.name, value.mime_type], "sha256": self._of_file(value)}
        if isinstance(value, bytes | bytearray | memoryview):
            return {"bytes": len(value), "sha256": _hash(value)}
        if isinstance(value, Set):
            return {"set": sorted(map(self.to_json, value))}
        if isinstance(value, Mapping):
            return dict(value)
        return [type(value).__qualname__, _made_of(value)]

    def _of_file(self, file: UploadedFile) -> str:
        found = self._files.get(file)
        if found is None:
            found = self._files[file] = _hash(file.data)
        return found

    def _with_text_keys(self, value: Any, around: tuple[int, ...]) -> Any:
        """Return *value* with mappings as pairs, and whatever holds itself as its type's name."""
        if isinstance(value, str | int | float | None):
            return value
        if id(value) in around:
            return type(value).__qualname__
        around = (*around, id(value))
        if isinstance(value, list | tuple):
            return [self._with_text_keys(each, around) for each in value]
        if isinstance(value, dict):
            pairs = [(self.to_json(k), self._with_text_keys(v, around)) for k, v in value.items()]
            return {"pairs": sorted(pairs, key=lambda pair: pair[0])}
        return self._with_text_keys(self._in_words(value), around)


def _of_array(array: NDArray[Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"dtype": str(array.dtype), "shape": array.shape}
    if array.dtype.hasobject:
        return told | {"values": array.tolist()}
    return told | {"sha256": _hash(np.ascontiguousarray(array).reshape(-1).view(np.uint8))}


def _on_the_host(tensor: Any) -> NDArray[Any]:
    held = tensor.detach().cpu()
    try:
        array: NDArray[Any] = held.numpy()
    except TypeError:  # a float that numpy has no word for, such as bfloat16
        array = held.float().numpy()
    return array


def _made_of(value: Any) -> Any:
    try:
        return value.__getstate__()
    except Exception:  # noqa: BLE001 - an author's method
        return None


def _hash(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()
