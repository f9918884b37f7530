"""Metadata is kept as it was when it was said."""

from typing import Any

import numpy as np

from reactor_runtime.model.metadata_snapshot import snapshot


def test_containers_and_arrays_are_copied_to_the_bottom() -> None:
    pose = np.zeros(3)
    said: dict[str, Any] = {"pose": pose, "path": [(1, [2])], "raw": bytearray(b"ab")}
    kept = snapshot(said)
    pose[:] = 7
    said["path"][0][1].append(3)
    said["raw"].append(0)
    said["late"] = True
    assert kept["pose"].tolist() == [0, 0, 0]
    assert {key: kept[key] for key in kept if key != "pose"} == {"path": [(1, [2])], "raw": b"ab"}


def test_objects_stay_what_they_are() -> None:
    model = object()
    assert snapshot([model, None, 1, "a"]) == [model, None, 1, "a"]
    assert snapshot(model) is model


def test_what_holds_itself_is_copied_once() -> None:
    ring: list[Any] = []
    ring += [ring, (ring, {"ring": ring})]
    kept = snapshot(ring)
    assert kept is not ring
    assert kept[0] is kept[1][0] is kept[1][1]["ring"] is kept


def test_a_tuple_met_in_many_places_is_copied_once() -> None:
    tree: tuple[Any, ...] = (1,)
    for _ in range(30):  # 2**30 places
        tree = (tree, tree)
    kept = snapshot(tree)
    assert kept[0] is kept[1]


def test_what_is_deeper_than_anybody_reads_is_left_alone() -> None:
    deepest: list[Any] = []
    tower = deepest
    for _ in range(5000):
        tower = [tower]
    kept = snapshot(tower)
    assert kept is not tower
