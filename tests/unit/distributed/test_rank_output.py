"""Lines of a rank's pipe: whole, in order, bounded."""

import json
import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest

from reactor_runtime.distributed.rank_output import RankOutput


class Pipe:
    def __init__(self, name: str) -> None:
        read, self.write_end = os.pipe()
        os.set_blocking(read, False)
        self.now = 100.0
        self.output = RankOutput(1, read, name, lambda: {"session": "s"}, lambda: self.now)
        self.is_open = True

    def write(self, data: bytes) -> None:
        os.write(self.write_end, data)
        self.output.drain()

    def close(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        os.close(self.write_end)
        assert not self.output.drain()
        self.output.close()
        self.output.close()


@pytest.fixture
def pipe(caplog: pytest.LogCaptureFixture) -> Iterator[Pipe]:
    caplog.set_level(logging.INFO)
    yield (made := Pipe("stderr"))
    made.close()


def texts(caplog: pytest.LogCaptureFixture) -> list[Any]:
    fields = [getattr(record, "reactor_fields", {}) for record in caplog.records]
    return [found["text"] for found in fields if "text" in found]


def test_lines_are_whole_however_they_come(pipe: Pipe, caplog: pytest.LogCaptureFixture) -> None:
    for piece in (b"one\ntw", b"o", b"\n\n  \nth\xffree\r\n", b"last"):
        pipe.write(piece)
    assert texts(caplog) == ["one", "two", "th\\xffree"]
    pipe.close()
    assert texts(caplog)[3:] == ["last"]
    assert pipe.output.last_words() == "one\ntwo\nth\\xffree\nlast"


def test_nothing_to_read_is_no_end(pipe: Pipe) -> None:
    assert pipe.output.drain()


def test_the_last_words_are_few(pipe: Pipe) -> None:
    pipe.write(b"".join(b"line %d\n" % number for number in range(500)))
    assert pipe.output.last_words().splitlines()[0] == "line 480"


def test_what_is_over_the_bound_is_counted(pipe: Pipe, caplog: pytest.LogCaptureFixture) -> None:
    def dropped() -> list[int]:
        fields = [getattr(record, "reactor_fields", {}) for record in caplog.records]
        return [found["lines"] for found in fields if "lines" in found]

    for _ in range(14):
        pipe.write(b"x\n" * 1000)
    assert len(texts(caplog)) == 12_000
    pipe.now += 0.5
    pipe.write(b"x\n" * 100)
    assert (len(texts(caplog)), dropped()) == (12_100, [2000])
    pipe.write(b"y" * 40_000 + b"\n")  # a long line counts as several
    pipe.write(b"x\n" * 1000)
    pipe.close()
    assert (len(texts(caplog)), sum(dropped())) == (12_491, 2610)


def test_structured_lines_are_written_again_as_they_were(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    pipe = Pipe("log")
    pipe.write(
        b'{"timestamp": "2026-01-01T00:00:00.000Z", "level": "warning", "logger": "kitchen",'
        b' "event": "burnt", "eggs": 2}\n{"level": "what"}\nplain text\n'
    )
    pipe.close()
    burnt, *others = caplog.records
    assert (burnt.name, burnt.levelname, burnt.created) == ("kitchen", "WARNING", 1767225600.0)
    assert burnt.reactor_fields == {"eggs": 2, "rank": 1, "session": "s"}  # type: ignore[attr-defined]
    assert texts(caplog) == ['{"level": "what"}', "plain text"]
    assert len(others) == 2


def test_a_long_traceback_is_one_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    pipe = Pipe("log")
    entry = {"timestamp": "2026-01-01T00:00:00Z", "level": "error", "logger": "a", "event": "b"}
    line = json.dumps({**entry, "exception": "x\n" * 60_000}).encode() + b"\n"
    for start in range(0, len(line), 30_000):
        pipe.write(line[start : start + 30_000])
    pipe.close()
    (record,) = caplog.records
    assert len(record.reactor_fields["exception"]) == 120_000  # type: ignore[attr-defined]


def test_a_closed_pipe_has_nothing_more(pipe: Pipe) -> None:
    pipe.close()
    assert not pipe.output.drain()
    pipe.output.drain_rest()
