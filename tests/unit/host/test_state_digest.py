"""What of a model's state is compared between ranks: equal values are equal text, and only they."""

import json
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from reactor_runtime import InputState, ReactorModel, UploadedFile
from reactor_runtime.host.state_digest import AUTHORS_OWN, StateDigest


class Pair(NamedTuple):
    x: int
    y: int


@dataclass
class Camera:
    x: float = 0.0
    seen: Any = None


class Opaque:
    """What its parts are is nobody's business."""

    __slots__ = ("part",)

    def __getstate__(self) -> object:
        raise TypeError("not to be taken apart")


def holding_itself() -> list[object]:
    circle: list[object] = [1]
    circle.append(circle)
    return circle


VALUES: dict[str, Any] = {
    "none": None,
    "true": True,
    "one": 1,
    "one as float": 1.0,
    "one as text": "1",
    "not a number": float("nan"),
    "half a character": "\ud800",
    "list": [1, 2],
    "nested": [[1], 2],
    "dict": {"b": 1, "a": 2},
    "numbers as keys": {1: "a"},
    "text as keys": {"one": "a"},
    "pairs as keys": {(1, 2): "a"},
    "set": {3, 1, 2},
    "bytes": b"12",
    "array": np.arange(4, dtype=np.int32),
    "array of other numbers": np.arange(1, 5, dtype=np.int32),
    "array of another type": np.arange(4, dtype=np.int64),
    "array of another shape": np.arange(4, dtype=np.int32).reshape(2, 2),
    "empty array": np.zeros((0, 3)),
    "array of objects": np.array(["a", None], object),
    "scalar": np.float32(1),
    "file": UploadedFile("a.png", "image/png", b"12"),
    "file of other bytes": UploadedFile("a.png", "image/png", b"13"),
    "dataclass": Camera(1.0),
    "dataclass with more in it": Camera(1.0, {(0, 1): np.zeros(2)}),
    "circle": holding_itself(),
    "closed object": Opaque(),
    "lock": threading.Lock(),
}


def test_values_that_differ_have_digests_that_differ() -> None:
    digests = {name: StateDigest().of_value(value) for name, value in VALUES.items()}
    assert len(set(digests.values())) == len(VALUES)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_json(name: str) -> None:
    json.loads(StateDigest().to_json(VALUES[name]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: 1, "b": 2}, OrderedDict([("b", 2), (1, 1)])),
        ({1, 2, 3}, frozenset([3, 2, 1])),
        (Pair(1, 2), (1, 2)),
        (np.arange(8)[::2], np.arange(0, 8, 2)),
        (Opaque(), Opaque()),
    ],
)
def test_the_order_of_keys_and_the_layout_of_memory_do_not_count(one: Any, other: Any) -> None:
    digest = StateDigest()
    assert digest.of_value(one) == digest.of_value(other)


@pytest.mark.torch
def test_tensors_are_dtype_shape_and_bytes_wherever_they_lie() -> None:
    torch = pytest.importorskip("torch")
    digest = StateDigest()
    ones = torch.ones(4, 2)
    assert digest.of_value(ones) == digest.of_value(torch.ones(2, 4).t().requires_grad_())
    others = [ones.bfloat16(), ones.half(), ones.to(torch.float8_e4m3fn), ones[:2], ones * 2]
    assert len({digest.of_value(each) for each in (ones, *others)}) == 6


def test_another_process_finds_the_same() -> None:
    program = (
        "from reactor_runtime.host.state_digest import StateDigest;"
        "print(StateDigest().of_value({'b': {'x', 'y', 'z'}, 2: 1.5}))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {StateDigest().of_value({"b": {"x", "y", "z"}, 2: 1.5})}


class State(InputState):
    level: float = 0.0
    _own: int = 0


class Model(ReactorModel):
    state: State
    steps = 0

    def lockstep_digest(self) -> object:
        return {"steps": self.steps}


def test_public_fields_and_the_authors_own_count() -> None:
    model, digest = Model(), StateDigest()
    assert set(digest.of_model(model)) == {AUTHORS_OWN}
    model.state = State()
    before = digest.of_model(model)
    assert set(before) == {"state.level", AUTHORS_OWN}
    model.state._own = 1
    assert digest.of_model(model) == before
    model.state.level = 1.0
    model.steps = 1
    after = digest.of_model(model)
    assert all(before[name] != after[name] for name in before)
