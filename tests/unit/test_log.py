"""Logs: one format for everybody's lines, one record per traceback, nothing secret."""

import asyncio
import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reactor_runtime.log import Logger, bound, configure, get_logger, mark

Lines = Callable[[], list[dict[str, Any]]]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


pytestmark = pytest.mark.usefixtures("logging_as_before")


@pytest.fixture
def lines() -> Lines:
    stream = io.StringIO()
    configure("json", "debug", stream=stream)

    def read() -> list[dict[str, Any]]:
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    return read


def python(*code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, timeout=30
    )


def test_our_lines_do_without_rich_and_leave_it_to_others() -> None:
    done = python(
        "import sys",
        "from reactor_runtime.log import configure, get_logger",
        "configure()",
        "import structlog",
        "structlog.get_logger().info('a_line', at=1)",
        "try: 1 / 0",
        "except ZeroDivisionError: get_logger('x').exception('it_failed')",
        "assert not [name for name in sys.modules if name.split('.')[0] == 'rich']",
        "import rich.console",
    )
    assert done.returncode == 0, done.stderr
    assert "a_line" in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_structlog_loads_with_the_first_line_and_not_before() -> None:
    done = python(
        "import sys",
        "from reactor_runtime.log import get_logger",
        "log = get_logger('x').bind(a=1)",
        "log.debug('not written')",
        "assert 'structlog' not in sys.modules",
        "log.warning('written')",
        "assert 'structlog' in sys.modules",
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "written a=1\n"


def test_a_line_is_an_event_and_facts(lines: Lines) -> None:
    get_logger("session").bind(client="c1").info("client_joined", viewers=2, ratio=0.5, ok=True)
    (line,) = lines()
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info", "logger": "session", "event": "client_joined",
        "client": "c1", "viewers": 2, "ratio": 0.5, "ok": True,
    }  # fmt: skip


def test_every_source_has_the_same_form(lines: Lines) -> None:
    import structlog

    get_logger("ours").info("a", n=1)
    logging.getLogger("stdlib").warning("b %s", 2)
    logging.getLogger("uvicorn.error").warning("c")
    logging.getLogger("aiortc.rtcpeerconnection").info("d")
    structlog.get_logger("theirs").info("e", n=5)
    assert [(line["logger"], line["level"], line["event"]) for line in lines()] == [
        ("ours", "info", "a"),
        ("stdlib", "warning", "b 2"),
        ("uvicorn.error", "warning", "c"),
        ("aiortc.rtcpeerconnection", "info", "d"),
        ("theirs", "info", "e"),
    ]
    assert lines()[4]["n"] == 5


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_the_level_is_honoured(level: str) -> None:
    names = ["debug", "info", "warning", "error", "critical"]
    stream = io.StringIO()
    configure("json", level, stream=stream)
    import structlog

    for name in names:
        getattr(get_logger("ours"), name)(name)
        getattr(logging.getLogger("stdlib"), name)(name)
        getattr(structlog.get_logger("theirs"), name)(name)
    written = [json.loads(line)["level"] for line in stream.getvalue().splitlines()]
    assert written == [name for name in names[names.index(level) :] for _ in range(3)]


def test_libraries_that_speak_of_every_packet_stay_quiet(lines: Lines) -> None:
    for name in ("aiortc.rtcrtpsender", "aiortc.rtcrtpreceiver", "aiortc.rtcsctptransport"):
        logging.getLogger(name).debug("> packet")
    assert lines() == []


@pytest.mark.parametrize(("log_format", "level"), [("xml", "info"), ("text", "loud")])
def test_an_unknown_word_is_an_error(log_format: str, level: str) -> None:
    with pytest.raises(ValueError, match=log_format if log_format == "xml" else level):
        configure(log_format, level)


def test_ids_bound_once_are_on_every_line_of_the_task(lines: Lines) -> None:
    async def session(name: str) -> None:
        with bound(session=name):
            await asyncio.sleep(0)
            get_logger("ours").info("a")
            logging.getLogger("stdlib").info("b")

    async def main() -> None:
        async with asyncio.TaskGroup() as group:
            for name in ("s1", "s2"):
                group.create_task(session(name))

    asyncio.run(main())
    get_logger("ours").info("outside")
    seen = [(line["event"], line.get("session")) for line in lines()]
    ours = [each for each in seen if each[0] in ("a", "b", "outside")]
    assert sorted(ours, key=str) == [
        ("a", "s1"), ("a", "s2"), ("b", "s1"), ("b", "s2"), ("outside", None),
    ]  # fmt: skip


def test_fields_of_the_process_are_on_every_line() -> None:
    stream = io.StringIO()
    configure("json", "info", stream=stream, fields={"rank": 1})
    get_logger("ours").info("a")
    logging.getLogger("stdlib").warning("b")
    assert [json.loads(line)["rank"] for line in stream.getvalue().splitlines()] == [1, 1]


def test_configuring_again_replaces() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure("json", "info", stream=first)
    configure("text", "info", stream=second)
    get_logger("ours").info("once")
    assert first.getvalue() == ""
    assert second.getvalue().count("once") == 1


# --- text ----------------------------------------------------------------------------------------


def test_text_is_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for stream, is_coloured in ((Terminal(), True), (io.StringIO(), False)):
        configure("text", "info", stream=stream)
        get_logger("ours").info("started", rank=2)
        assert ("\x1b[" in stream.getvalue()) == is_coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    configure("text", "info", stream=plain)
    get_logger("ours").info("started")
    assert "\x1b[" not in plain.getvalue()


def test_text_keeps_a_record_on_one_line_whatever_it_holds() -> None:
    stream = io.StringIO()
    configure("text", "info", stream=stream)
    get_logger("ours").info("event\nsecond", name="a\x1b[31mb\r\nc", **{"odd\nkey": 1})
    logging.getLogger("stdlib").warning("one\ntwo\x07")
    written = stream.getvalue()
    assert written.count("\n") == 2
    assert "\x1b" not in written
    assert "\x07" not in written


def test_text_shows_columns_and_fields() -> None:
    stream = io.StringIO()
    configure("text", "info", stream=stream)
    get_logger("ours").warning("slow_viewer", client="c1", queue=8)
    line = stream.getvalue()
    for part in ("warning", "slow_viewer", "ours", "client=c1", "queue=8"):
        assert part in line


# --- exceptions ----------------------------------------------------------------------------------


def test_an_exception_is_one_record_with_one_traceback(lines: Lines) -> None:
    try:
        raise ZeroDivisionError("of mine")
    except ZeroDivisionError:
        get_logger("ours").exception("step_failed", session="s")
    (line,) = lines()
    assert line["event"] == "step_failed"
    assert line["exception"].count("Traceback") == 1
    assert line["exception"].endswith("ZeroDivisionError: of mine")


def test_an_exception_can_be_given_later(lines: Lines) -> None:
    error = ValueError("kept")
    get_logger("ours").error("failed", exc_info=error)
    get_logger("ours").exception("no exception here")
    first, second = lines()
    assert first["exception"] == "ValueError: kept"
    assert "exception" not in second


UNCAUGHT = {
    "main": ("raise ValueError('boom')", "uncaught_exception", 1),
    "thread": (
        "import threading\n"
        "def work(): raise ValueError('boom')\n"
        "thread = threading.Thread(target=work, name='worker'); thread.start(); thread.join()",
        "thread_failed", 0,
    ),
    "unraisable": (
        "class Weak:\n    def __del__(self): raise ValueError('boom')\nWeak()",
        "unraisable_exception", 0,
    ),
    "task": (
        "import asyncio, gc\n"
        "async def fail(): raise ValueError('boom')\n"
        "async def main():\n"
        "    task = asyncio.ensure_future(fail())\n    await asyncio.sleep(0)\n"
        "    del task\n    gc.collect()\n"
        "asyncio.run(main())",
        "Task exception was never retrieved", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("where", UNCAUGHT)
def test_an_uncaught_exception_is_one_record(where: str) -> None:
    code, event, status = UNCAUGHT[where]
    done = python("from reactor_runtime.log import configure", "configure('json')", code)
    assert done.returncode == status
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert line["event"].startswith(event)
    assert line["exception"].endswith("ValueError: boom")


def test_a_keyboard_interrupt_is_no_failure_of_ours() -> None:
    done = python(
        "from reactor_runtime.log import configure", "configure('json')", "raise KeyboardInterrupt"
    )
    assert "uncaught_exception" not in done.stderr


def test_a_warning_is_one_record() -> None:
    done = python(
        "from reactor_runtime.log import configure", "configure('json')",
        "import warnings", "warnings.warn('careful')",
    )  # fmt: skip
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (line["level"], line["logger"]) == ("warning", "py.warnings")
    assert line["event"].startswith("UserWarning: careful (")


# --- what a caller may get wrong -----------------------------------------------------------------


def test_logging_never_raises(lines: Lines) -> None:
    class Broken:
        def __repr__(self) -> str:
            raise ValueError("no repr")

    log = get_logger("ours")
    log.info("args %s %d", "few")
    log.info("percent 100%", level=3, event=4, timestamp=5, exception=6, logger=7)
    log.info(ValueError("an exception as the event"))
    log.info("broken", broken=Broken(), big=1 << 80, nan=float("nan"), bad="\ud800")
    events = [line["event"] for line in lines()]
    assert events == ["args %s %d 'few'", "percent 100%", "an exception as the event", "broken"]
    assert lines()[1]["level_"] == 3
    assert lines()[3]["broken"] == "<Broken>"


def test_a_foreign_record_that_cannot_be_formatted_is_told() -> None:
    done = python(
        "import logging", "from reactor_runtime.log import configure", "configure('json')",
        "logging.getLogger('stdlib').warning('args %s %d', 'few')",
    )  # fmt: skip
    (line,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert (line["event"], line["logger"]) == ("unprintable_record", "stdlib")


def test_a_closed_stream_costs_the_line_and_nothing_else() -> None:
    stream = io.StringIO()
    configure("text", "info", stream=stream)
    stream.close()
    get_logger("ours").info("lost")


def test_loggers_bind_and_unbind_without_touching_each_other(lines: Lines) -> None:
    first = get_logger("ours", a=1)
    second = first.bind(b=2)
    second.unbind("a").info("x")
    first.info("y")
    assert [set(line) & {"a", "b"} for line in lines()] == [{"b"}, {"a"}]
    assert isinstance(second, Logger)


def test_a_mark_is_on_every_line_of_the_process_until_it_is_taken_away(lines: Lines) -> None:
    mark(session="s1", rank=None)
    get_logger("ours").info("x")
    logging.getLogger("theirs").info("x")
    get_logger("ours").info("x", session="own")
    mark(session=None)
    get_logger("ours").info("x")
    assert [line.get("session") for line in lines()] == ["s1", "s1", "own", None]


def test_lines_of_many_threads_are_neither_cut_nor_merged(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with file.open("w") as stream:
        configure("json", "info", stream=stream)

        def write(number: int) -> None:
            for index in range(500):
                get_logger("ours").info("line", thread=number, index=index, pad="x" * index)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        logging.getLogger().handlers[-1].flush()
    seen = {(line["thread"], line["index"]) for line in map(json.loads, file.open())}
    assert len(seen) == 2000


# --- what never appears --------------------------------------------------------------------------


def test_credentials_are_hidden_by_name(lines: Lines) -> None:
    get_logger("ours").info(
        "x", token="s3cr3t", authorization="s3cr3t", turn_credential="s3cr3t", password="s3cr3t",
        nested={"api_key": "s3cr3t", "list": [{"secret": "s3cr3t"}]}, tokens_per_s=5,
    )  # fmt: skip
    (line,) = lines()
    assert "s3cr3t" not in json.dumps(line)
    assert line["tokens_per_s"] == 5


@pytest.mark.parametrize(
    "text",
    [
        "GET /events?token=s3cr3t HTTP/1.1",
        "GET /?since=3&token=s3cr3t",
        "Authorization: Bearer s3cr3t",
        '{"token": "s3cr3t", "x": 1}',
        "turn:user:s3cr3t@relay.example:3478",
        "turns://user:s3cr3t@relay.example",
        "http://user:s3cr3t@proxy:80/",
        "a=ice-pwd:s3cr3t",
        "password=s3cr3t",
    ],
)
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_credentials_are_hidden_in_text_of_every_source(text: str, log_format: str) -> None:
    stream = io.StringIO()
    configure(log_format, "debug", stream=stream)
    import structlog

    get_logger("ours").info(text, detail=text)
    get_logger("ours").info("formatted %s", text)
    logging.getLogger("uvicorn.access").info('"%s"', text)
    structlog.get_logger("theirs").info(text, detail=[text])
    try:
        raise ValueError(text)
    except ValueError:
        get_logger("ours").exception("failed")
    assert "s3cr3t" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) >= 5


def test_frames_and_bytes_are_told_by_size(lines: Lines) -> None:
    get_logger("ours").info("x", picture=np.zeros((4, 5, 3), np.uint8), raw=b"abc" * 100)
    (line,) = lines()
    assert line["picture"] == "<uint8 (4, 5, 3)>"
    assert line["raw"] == "<300 bytes>"


def test_what_clients_send_is_hidden_in_our_own_lines(lines: Lines) -> None:
    get_logger("reactor_runtime.session").info("x", prompt="a cat", payload={"a": 1}, name="move")
    get_logger("author").info("x", prompt="a cat")
    ours, authors = lines()
    assert (ours["prompt"], ours["payload"], ours["name"]) == ("***", "***", "move")
    assert authors["prompt"] == "a cat"


def test_long_values_are_cut(lines: Lines) -> None:
    get_logger("ours").info("x", text="y" * 100_000, many=list(range(1000)))
    (line,) = lines()
    assert len(line["text"]) < 5_000
    assert len(line["many"]) == 64


def test_stacks_are_lines_in_text_and_a_field_in_json() -> None:
    text, as_json = io.StringIO(), io.StringIO()
    for log_format, stream in (("text", text), ("json", as_json)):
        configure(log_format, "info", stream=stream)
        get_logger("reactor_runtime.x").error("model_is_stuck", stacks={"rank 0": "File a\n  b"})
    assert "rank 0:\nFile a\n  b" in text.getvalue()
    assert json.loads(as_json.getvalue())["stacks"] == {"rank 0": "File a\n  b"}


def test_an_exception_of_a_rank_is_told_once() -> None:
    stream = io.StringIO()
    configure("text", "info", stream=stream)
    error = ValueError("boom")
    error.add_note("on rank 1:\nTraceback (most recent call last):\n  File x\nValueError: boom")
    get_logger("reactor_runtime.x").error("step_failed", exc_info=error)
    assert stream.getvalue().count("ValueError: boom") == 1
    assert "on rank 1:" in stream.getvalue()
