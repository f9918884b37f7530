"""How a server stops: hooks once, clients told, within the grace, with its status."""

import http.client
import json
import signal
import socket
import time
import urllib.request
from pathlib import Path

import pytest
from tests.e2e.process_figures import no_process_is_left, ranks_of
from tests.e2e.serving import ROOT, WORLDS, Served, serving
from tests.waiting import wait_for

DIARY = "tests.models.keeps_a_diary:KeepsADiary"
LOAD_BREAKS = "tests.models.breaks_in_load:BreaksInLoad"
SLOW_IMPORT = "tests.models.slow_import:SlowImport"
on_one_rank_and_two = pytest.mark.parametrize("ranks", WORLDS)


def post(served: Served, path: str, body: object = None) -> dict[str, object]:
    content = json.dumps(body or {}).encode()
    request = urllib.request.Request(served.url + path, data=content, method="POST")
    with urllib.request.urlopen(request, timeout=5) as response:
        text = response.read().decode()
    return dict(json.loads(text)) if text else {}


def stop_in_time(served: Served, sig: signal.Signals, limit_s: float) -> int:
    begun = time.monotonic()
    status = served.stop(sig)
    assert time.monotonic() - begun < limit_s
    return status


@on_one_rank_and_two
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_a_live_session_ends_with_its_hook_once(
    tmp_path: Path, sig: signal.Signals, ranks: int
) -> None:
    diary = tmp_path / "diary"
    with serving(DIARY, *WORLDS[ranks], DIARY=str(diary)) as served:
        post(served, "/start_session")
        assert stop_in_time(served, sig, 3) == 0
        assert "session_ended" in served.log()
        assert "evicted" not in served.log()
        assert "Traceback" not in served.log()
    assert diary.read_text() == "started\n" * ranks + "ended\n" * ranks


@on_one_rank_and_two
def test_open_connections_never_hold_the_stop(tmp_path: Path, ranks: int) -> None:
    with serving(DIARY, *WORLDS[ranks], DIARY=str(tmp_path / "diary")) as served:
        host = served.url.removeprefix("http://")
        idle = http.client.HTTPConnection(host, timeout=10)
        idle.request("GET", "/health")
        idle.getresponse().read()
        address, _, port = host.partition(":")
        half = socket.create_connection((address, int(port)), timeout=10)
        half.sendall(b"POST /start_session HTTP/1.1\r\nHost: localhost\r\nContent-Le")
        with half, urllib.request.urlopen(f"{served.url}/events?since=0", timeout=10) as events:
            assert stop_in_time(served, signal.SIGTERM, 3) == 0
            told = events.read().decode()
        idle.close()
    last = json.loads(told.strip().rpartition("data: ")[2])
    assert last["to"] == "terminated"
    assert "shutting down" in last["detail"]["reason"]


@on_one_rank_and_two
@pytest.mark.parametrize(
    ("target", "env"), [(LOAD_BREAKS, {"BREAK": "sleep"}), (SLOW_IMPORT, {"IMPORT_S": "20"})]
)
def test_a_stop_while_loading_is_obeyed_at_once(
    target: str, env: dict[str, str], ranks: int
) -> None:
    with serving(target, *WORLDS[ranks], ready=False, cwd=ROOT, **env) as served:
        _wait_for_line(served, "Loading")
        assert stop_in_time(served, signal.SIGTERM, 2) == 0


@on_one_rank_and_two
def test_a_hook_stuck_for_a_minute_does_not_hold_the_stop(tmp_path: Path, ranks: int) -> None:
    diary = tmp_path / "diary"
    env = {"DIARY": str(diary), "BREAK": "stick"}
    flags = (*WORLDS[ranks], "--stop-grace", "3")
    with serving(DIARY, *flags, ready=True, cwd=ROOT, **env) as served:
        post(served, "/start_session")
        _wait_for_text(diary, "started")
        assert stop_in_time(served, signal.SIGTERM, 4.5) == 4
        assert "did not let go" in served.log()
    assert diary.read_text() == "started\n" * ranks


@on_one_rank_and_two
def test_the_second_signal_forces(tmp_path: Path, ranks: int) -> None:
    env = {"DIARY": str(tmp_path / "diary"), "BREAK": "stick"}
    with serving(DIARY, *WORLDS[ranks], ready=True, cwd=ROOT, **env) as served:
        post(served, "/start_session")
        _wait_for_text(tmp_path / "diary", "started")
        processes = ranks_of(served.process.pid)
        served.process.send_signal(signal.SIGINT)
        _wait_for_line(served, "Stopping")
        assert stop_in_time(served, signal.SIGINT, 1) == 130
    wait_for(lambda: no_process_is_left(processes))


@pytest.mark.parametrize("how", ["closed", "none", "unread"])
def test_streams_that_nobody_reads_change_nothing(tmp_path: Path, how: str) -> None:
    diary = tmp_path / "diary"
    with serving(DIARY, ready=True, cwd=ROOT, DIARY=str(diary), STREAMS=how) as served:
        post(served, "/start_session")
        _wait_for_text(diary, "started")
        assert stop_in_time(served, signal.SIGTERM, 3) == 0
    assert diary.read_text() == "started\nended\n"


def _wait_for_line(served: Served, text: str) -> None:
    wait_for(lambda: text in served.log(), otherwise=served.log)


def _wait_for_text(path: Path, text: str) -> None:
    wait_for(lambda: path.exists() and text in path.read_text())
