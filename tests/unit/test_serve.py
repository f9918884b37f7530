from pathlib import Path
from typing import Any

import pytest

from reactor_runtime.announcements import page_address, print_error
from reactor_runtime.exit_status import ExitStatus
from reactor_runtime.serve import with_plain_variables
from reactor_runtime.settings import ServeSettings


def settings(**values: Any) -> ServeSettings:
    return ServeSettings(model_ref="model:Model", folder=Path("/"), **values)


def test_plain_variables_are_read_and_ours_win() -> None:
    known = with_plain_variables(
        {"HOST": "0.0.0.0", "PORT": "9", "REACTOR_PORT": "8", "STUN_SERVERS": " ", "HOME": "/x"}
    )
    assert known["REACTOR_HOST"] == "0.0.0.0"
    assert known["REACTOR_PORT"] == "8"
    assert "REACTOR_STUN" not in known


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("localhost", "http://localhost:80/"),
        ("0.0.0.0", "http://127.0.0.1:80/"),
        ("::", "http://127.0.0.1:80/"),
        ("::1", "http://[::1]:80/"),
        ("[::1]", "http://[::1]:80/"),
    ],
)
def test_the_address_to_open(host: str, address: str) -> None:
    assert page_address(settings(host=host), 80) == address


def test_the_exit_statuses_are_these() -> None:
    assert {status.name: status.value for status in ExitStatus} == {
        "STOPPED": 0,
        "MODEL_FAILED": 1,
        "WRONG_SETTINGS": 2,
        "NO_ADDRESS": 3,
        "STUCK": 4,
    }


def test_an_error_is_one_line_of_bounded_length(capsys: pytest.CaptureFixture[str]) -> None:
    print_error("a\nb\tc " + "x" * 1_000_000)
    told = capsys.readouterr().err
    assert told.startswith("reactor: a b c xxx")
    assert told.count("\n") == 1
    assert len(told) < 3000
