"""Models that fail, die or hang while an author's test drives them: what the test is told."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.models.breaks_in_load import BreaksInLoad
from tests.models.drives_its_own_group import DrivesItsOwnGroup
from tests.models.goes_astray import GoesAstray
from tests.models.sleeps_in_step import SleepsInStep
from tests.process.distributed.traces import is_alive, own_group_processes

from reactor_runtime.errors import SettingError, WorkerGroupRefusedError
from reactor_runtime.testing import (
    ClientGoneError,
    FakeClient,
    ModelFailedError,
    ModelHarness,
    WaitTimeoutError,
    serve_model,
)

Serve = Callable[..., ModelHarness]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT raises here, also where a shell started pytest in the background and ignores it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


def gone(client: FakeClient) -> ClientGoneError:
    with pytest.raises(ClientGoneError) as caught:
        client.frames("main_video", count=1000)
    return caught.value


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_killed_is_named(serve_model: Serve, rank: int) -> None:
    served = serve_model(GoesAstray, world_size=2)
    assert len(served.pids) == 2
    client = served.connect()
    client.frames("main_video", count=3)
    os.kill(served.pids[rank], signal.SIGKILL)
    error = gone(client)
    assert "WorkerCrashed" in str(error)
    assert f"rank {rank} died" in error.seen
    assert "killed by SIGKILL" in error.seen
    assert served.failure == "WorkerCrashed"
    assert served.state == "terminated"
    assert not served.pids


@pytest.mark.parametrize(
    ("command", "way", "words"),
    [
        ("in_step", "fail", "ValueError"),
        ("in_step", "exit", "rank 1 died during"),
        ("now", "fail", "the ranks went different ways"),
        ("now", "refuse", "the ranks went different ways"),
    ],
)
def test_what_one_rank_does_alone_ends_the_session(
    serve_model: Serve, command: str, way: str, words: str
) -> None:
    client = serve_model(GoesAstray, world_size=2).connect()
    client.post(command, {"way": way, "rank": 1})
    error = gone(client)
    assert words in error.seen
    assert "failure: " in error.seen


def test_a_rank_that_hangs_is_shown_with_its_stack(serve_model: Serve) -> None:
    client = serve_model(GoesAstray, world_size=2, timeout=2.0).connect()
    client.post("in_step", {"way": "hang", "rank": 1})
    with pytest.raises(ClientGoneError, match="TimeoutError") as caught:
        client.frames("main_video", count=1000, timeout=30.0)
    assert "in wait_for_ever" in caught.value.seen


def test_a_hang_in_this_process_ends_the_wait_and_is_shown() -> None:
    harness = serve_model(SleepsInStep, stop_grace=1)
    with pytest.raises(WaitTimeoutError, match=r"time\.sleep\(state\.seconds\)"):
        hang(harness)
    (stuck,) = [t for t in threading.enumerate() if t.name.startswith("model-")]
    stuck.join(30)  # it sleeps for a while; nothing ends a thread


def test_a_model_that_does_not_let_go_fails_the_test() -> None:
    harness = serve_model(SleepsInStep, stop_grace=1)
    with pytest.raises(ModelFailedError, match=r"does not let go(.|\n)*time\.sleep"):
        hang(harness, waits=False)
    (stuck,) = [t for t in threading.enumerate() if t.name.startswith("model-")]
    stuck.join(30)


def hang(harness: ModelHarness, *, waits: bool = True) -> None:
    with harness:
        client = harness.connect()
        client.send("set_how", {"how": "block"})
        client.message("note")
        if waits:
            client.frames("main_video", timeout=0.5)


@pytest.mark.parametrize(
    ("world_size", "way", "words"),
    [
        (1, "raise", "load"),
        (2, "raise", "load"),
        (2, "kill", "died during load"),
        (2, "sleep", "did not answer load within 5 s"),
    ],
)
def test_a_model_that_does_not_load_says_why(
    serve_model: Serve, monkeypatch: pytest.MonkeyPatch, world_size: int, way: str, words: str
) -> None:
    monkeypatch.setenv("BREAK", way)
    with pytest.raises(ModelFailedError, match=words) as caught:
        serve_model(BreaksInLoad, world_size=world_size, load_timeout=5 if way == "sleep" else 60)
    assert own_group_processes() == set()
    if way == "raise":
        assert "the weights" in str(caught.value.__cause__)


def test_what_cannot_be_is_refused_at_once(serve_model: Serve) -> None:
    class Inner(GoesAstray):
        pass

    began = time.monotonic()
    with pytest.raises(WorkerGroupRefusedError, match="top level"):
        serve_model(Inner, world_size=2)
    with pytest.raises(TypeError, match="did you mean world_size"):
        serve_model(GoesAstray, wold_size=2)
    with pytest.raises(TypeError, match="has no setting 'port'"):
        serve_model(GoesAstray, port=80)
    with pytest.raises(SettingError, match="nccl"):
        serve_model(GoesAstray, world_size=2, comm_backend="nccl")
    assert time.monotonic() - began < 10
    assert serve_model(Inner).connect().frames("main_video")  # in this process it can


def test_a_models_own_group_is_as_wide_as_told_and_gone_afterwards(serve_model: Serve) -> None:
    served = serve_model(DrivesItsOwnGroup, workers=3)
    ranks = own_group_processes()
    assert len(ranks) == 3
    assert "REACTOR_WORKERS" in os.environ
    client = served.connect()
    client.send("set_prompt", {"prompt": "blue"})
    frames = client.frames("main_video", count=4)
    assert {tuple(frame.data[y, 5]) for frame in frames for y in (0, 359)} == {(30, 30, 220)}
    served.stop()
    assert not any(map(is_alive, ranks))
    assert "REACTOR_WORKERS" not in os.environ


def test_a_dead_rank_of_its_own_group_ends_the_session(
    serve_model: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    served = serve_model(DrivesItsOwnGroup, workers=2)
    client = served.connect()
    client.frames("main_video")
    os.kill(min(own_group_processes()), signal.SIGKILL)
    assert "WorkerCrashed" in str(gone(client))
    caplog.clear()  # a traceback holds what it shows: here a view of shared frames


def test_an_interrupt_ends_everything(interruptible: None) -> None:
    def interrupt() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def wait_for_ever() -> Any:
        with serve_model(GoesAstray, world_size=2) as harness:
            client = harness.connect()
            timer = threading.Timer(0.3, interrupt)
            timer.start()
            client.message("never", timeout=60)

    with pytest.raises(KeyboardInterrupt):
        wait_for_ever()
