"""What ranks print and log, in the parent's log."""

import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest
from tests.process.distributed.workers import Breaks, Painter

from reactor_runtime.distributed.worker import DistributedWorker
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import WorkerCrashed
from reactor_runtime.log import get_logger

MakeGroup = Callable[..., WorkerGroup]


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    return dict(getattr(record, "reactor_fields", {}))


def events(caplog: pytest.LogCaptureFixture, event: str) -> list[dict[str, Any]]:
    return [
        fields_of(record)
        for record in caplog.records
        if getattr(record, "reactor_event", "") == event
    ]


def test_printed_lines_bear_rank_stream_and_session(
    make_group: MakeGroup, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    group = make_group(Painter)
    group.listeners.log_fields = {"session": "s1"}
    with group:
        group.generate(0, ("prints", "hello\nthere"))
    found = events(caplog, "rank_output")
    for rank in range(2):
        mine = [line for line in found if line["rank"] == rank]
        assert [line["text"] for line in mine if line["stream"] == "stdout"] == ["hello", "there"]
        assert {line["session"] for line in mine} == {"s1"}
    assert "to stderr hello" in [line["text"] for line in found if line["stream"] == "stderr"]


def test_log_lines_keep_logger_level_and_fields(
    make_group: MakeGroup, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with make_group(Logs) as group:
        group.generate(0)
    (own,) = (line for line in events(caplog, "cooked") if line["rank"] == 1)
    assert own["eggs"] == 2
    stdlib = [r for r in caplog.records if r.name == "authors.own" and fields_of(r)["rank"] == 0]
    assert [(r.levelname, r.getMessage()) for r in stdlib] == [("WARNING", "said 3")]
    (failed,) = (line for line in events(caplog, "burnt") if line["rank"] == 0)
    assert "ZeroDivisionError" in failed["exception"]
    assert events(caplog, "not wanted") == []


def test_a_flood_is_bounded_and_counted(
    make_group: MakeGroup, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    told = {"where": 1, "phase": "generate_chunk", "fault": "100 MB on stdout"}
    with make_group(Breaks, setup_kwargs=told) as group:
        group.generate(0)
        group.generate(1)
    lines = events(caplog, "rank_output")
    dropped = sum(line["lines"] for line in events(caplog, "rank_output_dropped"))
    assert len(lines) + dropped == 2_000_000
    assert len(lines) < 40_000


def test_a_line_without_end_is_cut(make_group: MakeGroup, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with make_group(Painter) as group:
        group.generate(0, ("prints", "y" * 1_000_000))
    assert max(len(line["text"]) for line in events(caplog, "rank_output")) <= 64 << 10


def test_a_crash_brings_its_last_words(make_group: MakeGroup) -> None:
    told = {"where": 1, "phase": "generate_chunk", "fault": "SIGSEGV"}
    group = make_group(Breaks, setup_kwargs=told)
    group.start()
    with pytest.raises(WorkerCrashed) as caught:
        group.generate(0)
    assert "Segmentation fault" in caught.value.last_words
    assert "in crashes" in caught.value.last_words


def test_input_is_at_its_end(make_group: MakeGroup) -> None:
    with make_group(Reads) as group:
        group.generate(0)


class Logs(DistributedWorker):
    def generate_chunk(self, index: int, controls: Any) -> None:
        get_logger("kitchen").info("cooked", eggs=2)
        get_logger("kitchen").debug("not wanted")
        logging.getLogger("authors.own").warning("said %d", 3)
        try:
            1 / 0  # noqa: B018
        except ZeroDivisionError:
            get_logger("kitchen").exception("burnt")


class Reads(DistributedWorker):
    def generate_chunk(self, index: int, controls: Any) -> None:
        assert sys.stdin.read() == ""
