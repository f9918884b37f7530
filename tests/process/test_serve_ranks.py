"""``reactor serve`` on ranks of its own: what a killed rank ends, and what starts again."""

import contextlib
import json
import os
import signal
import socket
from pathlib import Path

import pytest
from tests.e2e.process_figures import no_process_is_left, ranks_of
from tests.e2e.serving import ROOT, Served, serving
from tests.process.distributed.traces import group_processes, is_alive
from tests.waiting import wait_for

MODEL = "tests.models.goes_astray:GoesAstray"
LOAD_BREAKS = "tests.models.breaks_in_load:BreaksInLoad"
FLAGS = ("--world-size", "2", "--no-init-process-group")


def health(served: Served) -> str:
    with contextlib.suppress(OSError):
        return str(json.loads(served.get("/health", 1.0)[1])["state"])
    return ""


def wait_for_health(served: Served, state: str) -> None:
    def holds() -> bool:
        assert served.process.poll() is None, served.log()
        return health(served) == state

    wait_for(holds, otherwise=served.log)


@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_rank_ends_the_process_with_status_1(victim: int) -> None:
    with serving(MODEL, *FLAGS) as served:
        ranks = ranks_of(served.process.pid)
        assert len(ranks) == 2
        os.kill(ranks[victim], signal.SIGKILL)
        assert served.process.wait(10) == 1
        last = served.log().splitlines()[-1]
        assert last.startswith(f"reactor: rank {victim} died during ")
        assert last.endswith("(killed by SIGKILL)")
    assert no_process_is_left(ranks)


def test_a_killed_server_takes_its_ranks_along() -> None:
    with serving(MODEL, *FLAGS) as served:
        ranks = ranks_of(served.process.pid)
        assert len(ranks) == 2
        served.stop(signal.SIGKILL)
        wait_for(lambda: not any(map(is_alive, ranks)))


def test_a_killed_rank_starts_new_ranks_where_that_is_wanted() -> None:
    flags = (*FLAGS, "--on-failure", "restart")
    with serving(MODEL, *flags) as served:
        before = ranks_of(served.process.pid)
        os.kill(before[1], signal.SIGKILL)
        wait_for_health(served, "loading")
        assert served.get("/health")[0] == 200
        wait_for_health(served, "available")
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
    with serving(LOAD_BREAKS, *FLAGS, ready=False, cwd=ROOT, BREAK="raise") as served:
        assert served.process.wait(20) == 1
        assert served.log().splitlines()[-1].endswith("the weights are bad (breaks_in_load.py:22)")


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("raise", "ValueError: the weights are bad (breaks_in_load.py:22) (on rank {rank})"),
        ("exit", "rank {rank} died during load (exit code 3)"),
        ("kill", "rank {rank} died during load (killed by SIGKILL)"),
    ],
)
def test_a_rank_that_breaks_in_load_is_named_and_ends_the_server(
    how: str, words: str, rank: int, tmp_path: Path
) -> None:
    env = {"BREAK": how, "BREAK_RANK": str(rank), "WHOSE": str(tmp_path)}
    with serving(LOAD_BREAKS, *FLAGS, ready=False, cwd=ROOT, **env) as served:
        assert served.process.wait(20) == 1
        assert served.log().splitlines()[-1].endswith(words.format(rank=rank))
        assert group_processes(f"WHOSE={tmp_path}\0".encode()) == set()
    with socket.socket() as again:  # the port is free
        again.bind(("127.0.0.1", int(served.url.rpartition(":")[2])))


BASE = """
import numpy as np
from reactor_runtime import Output, ReactorModel, Video

class Shown(Output):
    main_video: Video

class Base(ReactorModel):
    double = staticmethod(lambda value: 2 * value)

    def generate(self, input):
        return Shown(main_video=np.zeros((16, 16, 3), np.uint8))
"""
IN_A_FUNCTION = "def make():\n    class M(Base): pass\n    return M\nM = make()\n"


@pytest.mark.parametrize(
    ("making", "words"),
    [
        ("class M(Base): pass\n", ""),
        ("exec('class M(Base): pass')\n", ""),
        (IN_A_FUNCTION, "the worker class M is defined inside a function; define it at the top"),
        ("space = {'Base': Base}\nexec('class O(Base): pass', space)\nM = space['O']\n", "class O"),
        ("class M(Base): pass\nfrom reactor_runtime.serve import main\nmain()\n", "__main__"),
    ],
    ids=["holding a lambda", "exec", "in a function", "exec elsewhere", "unguarded script"],
)
def test_a_class_is_served_on_ranks_or_refused_in_one_line(
    tmp_path: Path, making: str, words: str
) -> None:
    (tmp_path / "model.py").write_text(BASE + making)
    (tmp_path / "reactor.yaml").write_text(
        "runtime: {import: 'model:M', world_size: 2, init_process_group: false}\n"
    )
    mark = f"WHOSE={tmp_path}\0".encode()
    with serving(tmp_path, ready=not words, cwd=ROOT, WHOSE=str(tmp_path)) as served:
        if not words:
            assert len(ranks_of(served.process.pid)) == 2
            assert served.stop() == 0
        else:
            assert served.process.wait(10) == 2
            last = served.log().splitlines()[-1]
            assert last.startswith("reactor: ")
            assert words in last
    assert group_processes(mark) == set()
