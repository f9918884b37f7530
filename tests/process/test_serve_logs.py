"""What a serving process writes: whole lines of one form, with the session, no secret."""

import json
import urllib.request
from typing import Any

import pytest
from tests.e2e.serving import WORLDS, Served, serving
from tests.models.logs_by_every_means import LINES, SECRET

TARGET = "tests.models.logs_by_every_means:LogsByEveryMeans"
FOR_PEOPLE = ("Open ", "Loading ", "Ready ", "Stopping", "printed by the model")


def lines_of_a_session(level: str, ranks: int) -> tuple[list[dict[str, Any]], str]:
    """Every log line of a server in which one session began and ended, and all it printed."""
    flags = (*WORLDS[ranks], "--log-format", "json", "--log-level", level)
    with serving(TARGET, *flags, REACTOR_TOKEN=SECRET) as served:
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


@pytest.fixture(scope="module", params=WORLDS, ids="{} ranks".format)
def ranks(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def debugged(ranks: int) -> tuple[list[dict[str, Any]], str]:
    return lines_of_a_session("debug", ranks)


def by_rank(lines: list[dict[str, Any]], ranks: int) -> list[list[dict[str, Any]]]:
    """The author's lines of each rank; a model in process has none."""
    own = [line for line in lines if line["logger"].startswith(("author.", "py.", "rank"))]
    if ranks == 1:
        assert all("rank" not in line for line in own)
        return [own]
    assert {line["rank"] for line in own} == set(range(ranks))
    return [[line for line in own if line["rank"] == rank] for rank in range(ranks)]


def test_every_line_is_whole_and_of_one_form(
    debugged: tuple[list[dict[str, Any]], str], ranks: int
) -> None:
    lines, _ = debugged
    assert all({"timestamp", "level", "logger", "event"} <= line.keys() for line in lines)
    for own in by_rank(lines, ranks):
        for logger, event in (("author.ours", "ours"), ("author.theirs", "theirs")):
            numbers = [line["number"] for line in own if line["event"] == event]
            assert numbers == list(range(LINES)), logger
        plain = [line["event"] for line in own if line["event"].startswith("plain ")]
        assert plain[:LINES] == [f"plain {number}\nsecond line" for number in range(LINES)]


def test_what_is_printed_is_there(debugged: tuple[list[dict[str, Any]], str], ranks: int) -> None:
    lines, text = debugged
    assert text.count("printed by the model") == ranks
    printed = [line["rank"] for line in lines if line.get("text") == "printed by the model"]
    assert sorted(printed) == ([] if ranks == 1 else list(range(ranks)))


def test_every_line_of_the_author_bears_the_session(
    debugged: tuple[list[dict[str, Any]], str],
) -> None:
    lines, _ = debugged
    sessions = {line.get("session") for line in lines if line["logger"].startswith("author.")}
    assert len(sessions) == 1
    assert None not in sessions


def test_there_is_one_record_per_traceback(
    debugged: tuple[list[dict[str, Any]], str], ranks: int
) -> None:
    lines, _ = debugged
    failures = {
        (line["event"], line.get("thread"), line.get("rank"))
        for line in lines
        if "exception" in line
    }
    every = range(ranks) if ranks > 1 else [None]
    assert failures == {
        each
        for rank in every
        for each in (("thread_failed", "author-thread", rank), ("caught", None, rank))
    }
    assert sum("exception" in line for line in lines) == 2 * ranks
    warned = [line["level"] for line in lines if line["logger"] == "py.warnings"]
    assert warned == ["warning"] * ranks


def test_no_line_holds_a_secret(debugged: tuple[list[dict[str, Any]], str]) -> None:
    assert SECRET not in debugged[1]


def test_the_level_is_honoured(debugged: tuple[list[dict[str, Any]], str], ranks: int) -> None:
    events = [line["event"] for line in debugged[0]]
    assert events.count("ours_debug") == events.count("plain debug") == ranks
    lines, _ = lines_of_a_session("warning", ranks)
    assert {line["level"] for line in lines} <= {"warning", "error", "critical"}
    assert [line["event"] for line in lines].count("caught") == ranks
