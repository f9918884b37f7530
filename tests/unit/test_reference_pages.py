"""The reference pages are what their script writes, and their own words are true."""

import re
from enum import Enum
from pathlib import Path

import pytest
from docs.write_tables import PAGES, written

from reactor_runtime.http.access import Verdict
from reactor_runtime.metrics import Metrics
from reactor_runtime.session.session_state import EndReason, SessionState
from reactor_runtime.webrtc.peer_figures import EndCause

METRICS = next(page for page in PAGES if page.name == "metrics.md")
SOURCE = Path(__file__).parents[2] / "src" / "reactor_runtime"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_is_up_to_date(page: Path) -> None:
    assert written(page) == page.read_text(encoding="utf-8"), "run `make docs`"


def test_every_metric_named_is_one() -> None:
    figures = {
        line.split()[2] for line in Metrics().render().decode().splitlines() if "# TYPE" in line
    }
    named = set(re.findall(r"reactor_[a-z_]*[a-z]", METRICS.read_text(encoding="utf-8")))
    parts = {name + end for name in figures for end in ("_bucket", "_sum", "_count")}
    assert named - figures - parts == {"reactor_process"}


def values_of(metric: str) -> set[str]:
    """Return the values the page lists for the one label of a metric that has some."""
    text = METRICS.read_text(encoding="utf-8").partition("## Values of labels")[2]
    (row,) = (line for line in text.splitlines() if line.startswith(f"| `{metric}`"))
    return set(re.findall(r"`([a-z_]+)`", row.split("|")[3]))


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("reactor_session_state", SessionState),
        ("reactor_sessions_ended_total", EndReason),
        ("reactor_connections_closed_total", EndCause),
        ("reactor_http_refused_total", set(Verdict) - {Verdict.WELCOME, Verdict.PREFLIGHT}),
    ],
)
def test_all_values_are_listed(metric: str, values: set[Enum]) -> None:
    assert values_of(metric) == {str(value.value) for value in values}


def test_values_that_are_listed_are_given() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    text = METRICS.read_text(encoding="utf-8").partition("## Values of labels")[2]
    for metric in re.findall(r"^\| `(reactor_\w+)`", text, re.MULTILINE):
        missing = {value for value in values_of(metric) if f'"{value}"' not in source}
        assert missing == set(), metric
