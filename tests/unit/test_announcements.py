"""What the person at the terminal is told comes in whole lines."""

import io
import sys

import pytest

from reactor_runtime.announcements import announce, print_error


class Unbuffered(io.StringIO):
    """Every write goes out at once, as under PYTHONUNBUFFERED."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes += [text] if text else []
        return len(text)


def test_a_line_is_one_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a log line of another thread may come between it and its end."""
    out, err = Unbuffered(), Unbuffered()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    announce("Ready after 0.1 s")
    print_error("no\nmodel")
    assert (out.writes, err.writes) == (["Ready after 0.1 s\n"], ["reactor: no model\n"])
