from enum import Enum

import pytest

from reactor_runtime.author_text import text_of


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class ExitingError(Exception):
    def __str__(self) -> str:
        raise SystemExit(4)


class Code(Enum):
    BUSY = "busy"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        (5, "5"),
        (None, "None"),
        (Code.BUSY, "busy"),
        (MuteError(), "(MuteError, whose text cannot be read)"),
        (ExitingError(), "(ExitingError, whose text cannot be read)"),
        ("half \ud800", "half ?"),
        (ValueError("half \udfff"), "half ?"),
    ],
)
def test_anything_has_a_text(value: object, text: str) -> None:
    assert text_of(value) == text


def test_a_long_text_is_cut() -> None:
    assert len(text_of("x" * 100_000)) < 5000
