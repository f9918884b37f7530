"""What a serving process writes: whole lines of one form, with the session, no secret (B34)."""

import json
import urllib.request
from typing import Any

import pytest
from tests.e2e.serving import Served, serving
from tests.models.logs_by_every_means import LINES, SECRET

TARGET = "tests.models.logs_by_every_means:LogsByEveryMeans"
FOR_PEOPLE = ("Open ", "Loading ", "Ready ", "Stopping", "printed by the model")


def lines_of_a_session(level: str) -> tuple[list[dict[str, Any]], str]:
    """Every log line of a server in which one session began and ended, and all it printed."""
    with serving(
        TARGET, "--log-format", "json", "--log-level", level, REACTOR_TOKEN=SECRET
    ) as served:
        session = start_session(served)
        served.stop()
        text = served.log()
    logged = [line for line in text.splitlines() if not line.startswith(FOR_PEOPLE)]
    lines = [json.loads(line) for line in logged]
    assert session
    return lines, text


def start_session(served: Served) -> str:
    request = urllib.request.Request(
        served.url + "/start_session", method="POST", data=b"{}",
        headers={"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"},
    )  # fmt: skip
    with urllib.request.urlopen(request, timeout=20) as response:
        return str(json.load(response)["session_id"])


@pytest.fixture(scope="module")
def debugged() -> tuple[list[dict[str, Any]], str]:
    return lines_of_a_session("debug")


def test_every_line_is_whole_and_of_one_form(debugged: tuple[list[dict[str, Any]], str]) -> None:
    lines, _ = debugged
    assert all({"timestamp", "level", "logger", "event"} <= line.keys() for line in lines)
    for logger, event in (("author.ours", "ours"), ("author.theirs", "theirs")):
        numbers = [line["number"] for line in lines if line["event"] == event]
        assert numbers == list(range(LINES)), logger
    plain = [line["event"] for line in lines if line["event"].startswith("plain ")]
    assert plain[:LINES] == [f"plain {number}\nsecond line" for number in range(LINES)]


def test_every_line_of_the_author_bears_the_session(
    debugged: tuple[list[dict[str, Any]], str],
) -> None:
    lines, _ = debugged
    sessions = {line.get("session") for line in lines if line["logger"].startswith("author.")}
    assert len(sessions) == 1
    assert None not in sessions


def test_there_is_one_record_per_traceback(debugged: tuple[list[dict[str, Any]], str]) -> None:
    lines, _ = debugged
    failures = [(line["event"], line.get("thread")) for line in lines if "exception" in line]
    assert failures == [("thread_failed", "author-thread"), ("caught", None)]
    assert [line["level"] for line in lines if line["logger"] == "py.warnings"] == ["warning"]


def test_no_line_holds_a_secret(debugged: tuple[list[dict[str, Any]], str]) -> None:
    assert SECRET not in debugged[1]


def test_the_level_is_honoured(debugged: tuple[list[dict[str, Any]], str]) -> None:
    events = {line["event"] for line in debugged[0]}
    assert {"ours_debug", "plain debug"} <= events
    lines, _ = lines_of_a_session("warning")
    assert {line["level"] for line in lines} <= {"warning", "error", "critical"}
    assert "caught" in {line["event"] for line in lines}
