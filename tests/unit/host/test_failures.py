"""An exception in one line: its type, its text and the author's own line."""

import json
from pathlib import Path

import pytest

import reactor_runtime
from reactor_runtime.host.failures import in_one_line
from reactor_runtime.model.output import Shard


def raised(action: object) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - whatever it raises is the subject
        action()  # type: ignore[operator]
    return caught.value


def boom() -> None:
    raise ValueError("boom\n  twice\x1b[31m")


def line_of(function: object, after: int) -> int:
    return int(function.__code__.co_firstlineno) + after  # type: ignore[attr-defined]


def test_it_names_type_text_and_place() -> None:
    told = in_one_line(raised(boom))
    assert told == f"ValueError: boom twice?[31m (test_failures.py:{line_of(boom, 1)})"


def misread() -> None:
    json.loads("{")


def test_the_place_is_the_authors_even_where_a_library_raised() -> None:
    told = in_one_line(raised(misread))
    assert told.startswith("JSONDecodeError: ") or told.startswith("json.decoder.JSONDecodeError: ")
    assert told.endswith(f"(test_failures.py:{line_of(misread, 1)})")


def misuse() -> None:
    Shard([], axis="rows")  # type: ignore[arg-type]


def test_generated_code_is_nobodys_place() -> None:
    told = in_one_line(raised(misuse))
    assert told.endswith(f"(test_failures.py:{line_of(misuse, 1)})")


def test_a_package_whose_name_begins_like_ours_is_the_authors() -> None:
    file = f"{Path(reactor_runtime.__file__).parent}_models/flow.py"
    error = ValueError("boom")
    error.add_note(f'Traceback (most recent call last):\n  File "{file}", line 22, in inference')
    assert in_one_line(error) == "ValueError: boom (flow.py:22)"


def test_an_exception_of_a_rank_has_its_place_in_a_note() -> None:
    error = ValueError("boom")
    error.add_note('Traceback (most recent call last):\n  File "/m/flow.py", line 22, in inference')
    assert in_one_line(error) == "ValueError: boom (flow.py:22)"


def test_a_secret_stays_out_and_a_long_text_is_cut() -> None:
    assert "hunter2" not in in_one_line(ValueError("token=hunter2 refused"))
    assert len(in_one_line(ValueError("x" * 10_000))) < 400


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def test_an_exception_that_cannot_be_shown_is_named() -> None:
    assert "MuteError" in in_one_line(MuteError())
