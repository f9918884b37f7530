"""Values an author may attach, none of which has a form in JSON; reading some of them does harm."""

from collections.abc import Iterator
from typing import Any


class OnAccelerator:
    """Reading it would wait for the work before it."""

    dtype, shape, device = "float32", (3,), "cuda:0"

    def tolist(self) -> list[float]:
        raise AssertionError("it was read")


class Leaves:
    """Says that it wants to leave when it is read."""

    dtype, shape, device = "float32", (3,), "cpu"

    def __len__(self) -> int:
        raise SystemExit(3)

    tolist = __len__


class Recurses:
    """Reads itself until the stack ends."""

    dtype, shape, device = "float32", (), "cpu"

    def tolist(self) -> Any:
        return self.tolist()


class Endless(list[int]):
    """As long as anybody asks; counts how often one did."""

    asked = 0

    def __iter__(self) -> Iterator[int]:
        while True:
            self.asked += 1
            yield 7


class Changing(dict[str, int]):
    """Another thread changes it while it is read."""

    def items(self) -> Any:
        yield "number", 1
        raise RuntimeError("dictionary changed size during iteration")
