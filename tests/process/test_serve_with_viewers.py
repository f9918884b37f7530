"""How a server with a live viewer stops and fails: they are told, and the status tells the rest."""

import asyncio
import json
import signal
import time
from pathlib import Path

import pytest
from tests.e2e.serving import ROOT, WORLDS, Served, own_address, serving
from tests.e2e.wire_client import WireClient, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

DIARY = "tests.models.keeps_a_diary:KeepsADiary"
VIDEO = ("main_video", "video")
on_one_rank_and_two = pytest.mark.parametrize("ranks", WORLDS)


def read(diary: Path) -> list[str]:
    return diary.read_text().splitlines() if diary.exists() else []


async def ended(served: Served, limit_s: float) -> int:
    return await asyncio.to_thread(served.process.wait, limit_s)


async def told_the_end(client: WireClient) -> str:
    """Wait for the notice that the session has ended, and return its reason."""
    await until(lambda: any(notice.HasField("session_ended") for notice in client.notices), 5)
    last = next(notice for notice in client.notices if notice.HasField("session_ended"))
    return str(last.session_ended.reason)


@on_one_rank_and_two
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
async def test_a_stop_tells_the_viewer_runs_the_hook_once_and_is_soon(
    tmp_path: Path, sig: signal.Signals, ranks: int
) -> None:
    diary = tmp_path / "diary"
    with serving(DIARY, *WORLDS[ranks], DIARY=str(diary)) as served:
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"])
            begun = time.monotonic()
            served.process.send_signal(sig)
            assert "shutting down" in await told_the_end(client)
            assert await ended(served, 5) == 0
            assert time.monotonic() - begun < 3
            await until(lambda: client.pc.connectionState in {"closed", "failed"}, 3)
        assert "Traceback" not in served.log()
        assert "never retrieved" not in served.log()
    assert read(diary) == [*["started"] * ranks, *["ended"] * ranks]


@on_one_rank_and_two
async def test_a_step_stuck_for_a_minute_does_not_hold_the_stop(tmp_path: Path, ranks: int) -> None:
    diary = tmp_path / "diary"
    env = {"DIARY": str(diary), "BREAK": "stick_in_step"}
    flags = (*WORLDS[ranks], "--stop-grace", "3")
    with serving(DIARY, *flags, ready=True, cwd=ROOT, **env) as served:
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: "stuck" in read(diary))
            begun = time.monotonic()
            served.process.send_signal(signal.SIGTERM)
            assert "shutting down" in await told_the_end(client)
            assert time.monotonic() - begun < 1
            assert await ended(served, 5) == 4
            assert time.monotonic() - begun < 3.5
        assert "did not let go" in served.log()


async def test_a_second_interrupt_forces_past_a_viewer_and_a_stuck_step(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    env = {"DIARY": str(diary), "BREAK": "stick_in_step"}
    with serving(DIARY, ready=True, cwd=ROOT, **env) as served:
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: "stuck" in read(diary))
            served.process.send_signal(signal.SIGINT)
            assert "shutting down" in await told_the_end(client)
            begun = time.monotonic()
            served.process.send_signal(signal.SIGINT)
            assert await ended(served, 10) == 130
            assert time.monotonic() - begun < 2
        assert "forced to stop" in served.log()
        assert "Traceback" not in served.log()


async def test_a_failed_step_ends_its_session_and_the_next_is_served(tmp_path: Path) -> None:
    env = {"DIARY": str(tmp_path / "diary"), "BREAK": "step"}
    with serving(DIARY, "--log-format", "json", ready=True, cwd=ROOT, **env) as served:
        async with wire_client(served.url, VIDEO) as client:
            assert await told_the_end(client) == "error"
        served.wait_for_state("ready", timeout_s=5)
        assert served.get("/health/ready")[0] == 200
        assert (await asyncio.to_thread(served.stop)) == 0
        tracebacks = [line for line in served.log().splitlines() if "cannot step" in line]
        (line,) = tracebacks
        assert json.loads(line)["session"]
    assert read(tmp_path / "diary") == ["started", "ended"]


async def test_every_line_between_start_and_end_bears_the_session_and_a_viewers_its_client(
    tmp_path: Path,
) -> None:
    env = {"DIARY": str(tmp_path / "diary")}
    with serving(DIARY, "--log-format", "json", ready=True, cwd=ROOT, **env) as served:
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"])
        served.wait_for_state("orphaned")
        assert (await asyncio.to_thread(served.stop)) == 0
        log = served.log()
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    session = lines[events.index("session_started")]["session"]
    live = lines[events.index("session_started") : events.index("session_ended") + 1]
    assert {line.get("session") for line in live} == {session}
    for event in ("connection_opened", "connection_closed"):
        assert next(line for line in live if line["event"] == event)["client"] == "5000"
    assert {line.get("session") for line in lines if line not in live} == {None}


@on_one_rank_and_two
async def test_where_a_failure_ends_the_process_the_viewer_is_told_first(
    tmp_path: Path, ranks: int
) -> None:
    env = {"DIARY": str(tmp_path / "diary"), "BREAK": "step"}
    flags = (*WORLDS[ranks], "--on-failure", "exit", "--log-format", "json")
    with serving(DIARY, *flags, ready=True, cwd=ROOT, **env) as served:
        async with wire_client(served.url, VIDEO) as client:
            assert await told_the_end(client) == "error"
            assert await ended(served, 10) == 1
        *lines, last = served.log().splitlines()
        assert last.startswith("reactor: ")
        assert "ValueError" in last
        (failure,) = [line for line in lines if '"exception"' in line]
        assert "cannot step" in failure
        assert json.loads(failure)["session"]
    assert read(tmp_path / "diary") == [*["started"] * ranks, *["ended"] * ranks]


@on_one_rank_and_two
async def test_a_step_past_its_time_ends_the_process(tmp_path: Path, ranks: int) -> None:
    env = {"DIARY": str(tmp_path / "diary"), "BREAK": "stick_in_step"}
    limits = (
        *WORLDS[ranks],
        "--turn-timeout",
        "0.5",
        "--first-turn-timeout",
        "0.5",
        "--stop-grace",
        "3",
    )
    with serving(DIARY, *limits, ready=True, cwd=ROOT, **env) as served:
        async with wire_client(served.url, VIDEO) as client:
            assert await told_the_end(client) == "error"
            assert await ended(served, 10) == 1
        assert "time.sleep(60)" in served.log()  # the stack of the thread that is stuck


async def fail_a_session(url: str) -> None:
    async with wire_client(url, VIDEO) as client:
        assert await told_the_end(client) == "error"
        assert [reply.error.message for reply in client.replies] == [
            "the session failed: ValueError"
        ]


async def test_a_model_that_breaks_in_its_first_step_is_kept_twice_and_told_each_time() -> None:
    with serving("tests.models.breaks_at_once:BreaksAtOnce") as served:
        for _ in range(2):
            await fail_a_session(served.url)
            await asyncio.to_thread(served.wait_for_state, "ready")
        await fail_a_session(served.url)
        assert await ended(served, 10) == 1
        assert served.log().splitlines()[-1] == (
            "reactor: 3 sessions in a row failed, last: "
            "ValueError: boom in the first step (breaks_at_once.py:18)"
        )


async def test_where_a_failure_is_the_end_the_last_line_names_it() -> None:
    model = "tests.models.breaks_at_once:BreaksAtOnce"
    with serving(model, "--on-failure", "exit") as served:
        await fail_a_session(served.url)
        assert await ended(served, 10) == 1
        assert served.log().splitlines()[-1] == (
            "reactor: a step failed (on_failure: exit): "
            "ValueError: boom in the first step (breaks_at_once.py:18)"
        )
