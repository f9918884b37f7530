"""What is told of a failure, and which are the echo of another rank's."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import reactor_runtime
from reactor_runtime.distributed.failure_report import describe_failure

CLOSED = "Connection closed by peer [127.0.0.1]:40123"


def raise_plainly() -> None:
    raise RuntimeError(CLOSED)


def raise_from() -> None:
    try:
        raise_plainly()
    except RuntimeError as error:
        raise ValueError("could not denoise") from error


def raise_while_handling() -> None:
    try:
        raise_plainly()
    except RuntimeError:
        raise ValueError("could not denoise") from None


def raise_for_another_reason() -> None:
    try:
        os.environ["NO_SUCH_VARIABLE"]
    except KeyError as error:
        raise RuntimeError("no such weights") from error


def raise_in_a_circle() -> None:
    error = ValueError("its own cause")
    error.__cause__ = error
    raise error


@pytest.mark.parametrize(
    ("fail", "is_echo"),
    [
        (raise_plainly, True),
        (raise_from, True),
        (raise_while_handling, True),
        (raise_for_another_reason, False),
        (raise_in_a_circle, False),
    ],
)
def test_an_error_of_a_collective_is_known_however_it_is_wrapped(
    fail: Callable[[], None], is_echo: bool
) -> None:
    with pytest.raises((RuntimeError, ValueError)) as caught:
        fail()
    assert describe_failure(caught.value, "step").is_collective is is_echo


def test_a_package_whose_name_begins_like_ours_is_the_authors() -> None:
    file = f"{Path(reactor_runtime.__file__).parent}_models/flow.py"
    code: dict[str, Callable[[], None]] = {}
    exec(compile("import json\ndef flow():\n json.loads('{')", file, "exec"), code)
    with pytest.raises(ValueError, match="Expecting") as caught:
        code["flow"]()
    assert caught.value.__traceback__ is not None
    caught.value.__traceback__ = caught.value.__traceback__.tb_next  # less this test
    assert f'File "{file}", line 3, in flow' in describe_failure(caught.value, "step").traceback
