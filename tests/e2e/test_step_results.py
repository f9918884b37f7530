"""What each step came to, as folders: made by a real server, read over plain HTTP."""

import contextlib
import io
import json
import signal
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from tests.e2e.serving import ROOT, Served, serving
from tests.e2e.wire_client import wire_client
from tests.models.keeps_records import FPS, FRAMES, SAMPLES
from tests.waiting import until

RANKS = ("--world-size", "2", "--no-init-process-group")
STEPS = 5
NEWEST = "00000000-0000-0000-0000-000000000000"
FILES = {"output.mp4", "page.html", "result.json", "step number.txt"}


@contextlib.contextmanager
def keeping(folder: Path, *flags: str) -> Iterator[Served]:
    (folder / "reactor.yaml").write_text(
        "runtime:\n  import: tests.models.keeps_records:KeepsRecords\n  step_results: true\n"
    )
    disk = ("--recordings-path", str(folder / "disk"))
    with serving(folder, *disk, *flags, PYTHONPATH=str(ROOT)) as served:
        yield served


def read(served: Served, path: str) -> tuple[bytes, Any]:
    with urllib.request.urlopen(served.url + path, timeout=10) as answer:
        return answer.read(), answer.headers


def status(served: Served, path: str) -> int:
    return served.get(path)[0]


def start(served: Served, **body: object) -> str:
    """Start a session and return the id its steps are found by."""
    asked = urllib.request.Request(f"{served.url}/start_session", json.dumps(body).encode())
    with urllib.request.urlopen(asked, timeout=20) as answer:
        described = json.loads(answer.read())
    assert described["step_results"]["enabled"] is True
    return str(described["step_results"]["session_id"])


def stop(served: Served) -> None:
    asked = urllib.request.Request(f"{served.url}/stop_session", b"{}")
    with urllib.request.urlopen(asked, timeout=10) as answer:
        assert answer.status == 200


def steps_of(served: Served, path: str) -> list[int]:
    code, text = served.get(path)
    return [step["step"] for step in json.loads(text)["steps"]] if code == 200 else []


async def film(served: Served, **given: object) -> dict[str, Any]:
    """Run a session of some steps, watched by somebody, and return its steps as they are listed."""
    session_id = start(served, steps=STEPS, **given)
    async with wire_client(served.url, ("main_video", "video"), adopt=True):
        await until(lambda: served.state() == "ready", 30)
    path = f"/sessions/{session_id}/steps"
    await until(
        lambda: (
            status(served, path) == 200 and len(json.loads(served.get(path)[1])["steps"]) == STEPS
        ),
        20,
    )
    listed: dict[str, Any] = json.loads(served.get(path)[1])
    return listed


def decoded(content: bytes) -> tuple[list[Any], int, float]:
    """The middle pixel of every picture, the number of samples, and the seconds of a file."""
    with av.open(io.BytesIO(content)) as container:
        pixels, times = [], []
        for frame in container.decode(video=0):
            pixels.append(frame.to_ndarray(format="rgb24")[60, 60].tolist())
            times.append(frame.time)
    with av.open(io.BytesIO(content)) as container:
        samples = sum(frame.samples for frame in container.decode(audio=0))
    return pixels, samples, times[-1] + 1 / FPS


@pytest.mark.parametrize("flags", [(), RANKS], ids=["in_process", "two_ranks"])
async def test_every_step_has_a_folder_with_what_it_showed(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    with keeping(tmp_path, *flags) as served:
        listed = await film(served, session_id="take 7 ö")
        session_id = listed["session_id"]
        assert json.loads(served.get("/sessions/take%207%20%C3%B6/steps")[1]) == listed
        assert [step["step"] for step in listed["steps"]] == list(range(STEPS))
        for number, step in enumerate(listed["steps"]):
            assert set(step["files"]) == FILES
            content, headers = read(served, f"/sessions/{session_id}/steps/{number}/output.mp4")
            assert len(content) == step["files"]["output.mp4"]
            assert headers["Content-Type"] == "video/mp4"
            pixels, samples, seconds = decoded(content)
            assert len(pixels) == FRAMES
            assert np.abs(np.array(pixels) - 20 * (number + 1)).max() <= 6
            assert seconds == pytest.approx(FRAMES / FPS, abs=0.002)
            assert SAMPLES <= samples <= SAMPLES + 1024  # whole packets of AAC
        result = json.loads(read(served, f"/sessions/{session_id}/steps/0")[0])
        assert result == json.loads(read(served, f"/sessions/{NEWEST}/steps/0/result.json")[0])
        assert result["error"] == "a little dark"
        assert result["tracks"][0] == {
            "name": "main_video",
            "kind": "video",
            "frames": FRAMES,
            "width": 180,
            "height": 120,
        }
        assert result["metadata"][5] == {"level": 20, "frame": 5}
        assert result["sound_metadata"] == [{"time": 0.0, "value": {"pitch": 440}}]
        assert result["duration_seconds"] == pytest.approx(FRAMES / FPS)
        assert read(served, f"/sessions/{session_id}/steps/2/step%20number.txt")[0] == b"3"
        headers = read(served, f"/sessions/{session_id}/steps/2/page.html")[1]
        assert headers["Content-Disposition"] == "attachment"  # never a page of this origin
        events = events_of(served)
        assert [e["detail"]["step"] for e in events if e["event"] == "step_result_ready"] == [
            *range(STEPS)
        ]
        assert [e["detail"]["error"] for e in events if e["event"] == "step_completed"] == [
            "a little dark",
            *(STEPS - 1) * [None],
        ]
        for path in ("nobody/steps", f"{session_id}/steps/99", f"{session_id}/steps/x"):
            assert status(served, f"/sessions/{path}") == 404
        for name in ("no.txt", "..", "%2e%2e%2f%2e%2e%2f.lock", "..%2f0%2foutput.mp4"):
            assert status(served, f"/sessions/{session_id}/steps/1/{name}") == 404
        assert served.stop() == 0
        assert list((tmp_path / "disk").iterdir()) == []


def events_of(served: Served) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    with urllib.request.urlopen(f"{served.url}/events?since=0", timeout=2) as stream:
        try:
            for line in stream:
                if line.startswith(b"data: "):
                    found.append(json.loads(line[6:]))
        except TimeoutError:
            pass  # it goes on for as long as the server does
    return found


async def test_the_oldest_go_where_there_is_no_room_and_all_when_their_time_is_up(
    tmp_path: Path,
) -> None:
    limits = ("--recordings-size", "100K", "--recordings-keep", "2")
    with keeping(tmp_path, *limits) as served:
        session_id = start(served)
        path = f"/sessions/{session_id}/steps"
        async with wire_client(served.url, ("main_video", "video"), adopt=True):
            await until(lambda: steps_of(served, path)[-1:] >= [19], 30)
            kept = steps_of(served, path)
            (folder,) = (tmp_path / "disk").iterdir()
            assert (folder / session_id).exists()
        assert 1 <= len(kept) < 15  # a step takes five blocks of 4 KiB and its folder
        assert kept == list(range(kept[0], kept[-1] + 1))
        stop(served)
        await until(lambda: status(served, path) == 404, 20)
        await until(lambda: not (folder / session_id).exists(), 20)


async def test_what_a_killed_server_leaves_goes_when_the_next_one_starts(tmp_path: Path) -> None:
    with keeping(tmp_path) as served:
        await film(served)
        served.stop(signal.SIGKILL)
    (left,) = (tmp_path / "disk").iterdir()
    with keeping(tmp_path) as served:
        await until(lambda: not left.exists(), 10)
        assert status(served, f"/sessions/{NEWEST}/steps") == 404


async def test_without_the_setting_nothing_is_kept_and_the_answer_says_why() -> None:
    with serving("tests.models.keeps_records:KeepsRecords") as served:
        code, text = served.get(f"/sessions/{NEWEST}/steps")
        assert (code, "step_results" in text) == (404, True)
        assert json.loads(served.get("/session")[1])["step_results"] == {"enabled": False}
