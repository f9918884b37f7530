"""``reactor serve`` on ranks of its own: what a killed rank ends, and what starts again."""

import contextlib
import json
import os
import signal
import time

import pytest
from tests.e2e.process_figures import no_process_is_left, ranks_of
from tests.e2e.serving import ROOT, Served, serving

MODEL = "tests.models.goes_astray:GoesAstray"
FLAGS = ("--world-size", "2")


def health(served: Served) -> str:
    with contextlib.suppress(OSError):
        return str(json.loads(served.get("/health", 1.0)[1])["state"])
    return ""


def wait_for(served: Served, state: str, timeout_s: float = 30.0) -> None:
    deadline = time.monotonic() + timeout_s
    while health(served) != state:
        assert time.monotonic() < deadline, served.log()
        assert served.process.poll() is None, served.log()
        time.sleep(0.01)  # polling another process: it has no condition to wait on


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_rank_ends_the_process_with_status_1(victim: int) -> None:
    with serving(MODEL, *FLAGS, REACTOR_INIT_PROCESS_GROUP="false") as served:
        ranks = ranks_of(served.process.pid)
        assert len(ranks) == 2
        os.kill(ranks[victim], signal.SIGKILL)
        assert served.process.wait(10) == 1
        assert "killed by SIGKILL" in served.log()
    assert no_process_is_left(ranks)


def test_a_killed_rank_starts_new_ranks_where_that_is_wanted() -> None:
    flags = (*FLAGS, "--on-failure", "restart")
    with serving(MODEL, *flags, REACTOR_INIT_PROCESS_GROUP="false") as served:
        before = ranks_of(served.process.pid)
        os.kill(before[1], signal.SIGKILL)
        wait_for(served, "loading")
        assert served.get("/health")[0] == 200
        wait_for(served, "available")
        after = ranks_of(served.process.pid)
        assert len(after) == 2
        assert not set(before) & set(after)
        assert served.stop() == 0
    assert no_process_is_left([*before, *after])


def test_one_rank_may_have_a_process_of_its_own() -> None:
    with serving(MODEL, "--isolation", "process") as served:
        ranks = ranks_of(served.process.pid)
        assert len(ranks) == 1
        assert served.stop() == 0
    assert no_process_is_left(ranks)


def test_a_model_that_does_not_load_on_the_ranks_ends_with_status_1() -> None:
    target, off = "tests.models.breaks_in_load:BreaksInLoad", "false"
    env = {"BREAK": "raise", "REACTOR_INIT_PROCESS_GROUP": off}
    with serving(target, *FLAGS, ready=False, cwd=ROOT, **env) as served:
        assert served.process.wait(20) == 1
        assert "BreaksInLoad failed in load: ValueError: the weights are bad" in served.log()
