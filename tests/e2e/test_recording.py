"""Recordings of a real server, fetched by the public Python SDK, and what endangers them."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until, wait_for

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

import av
import numpy as np
from numpy.typing import NDArray
from reactor_sdk import ReactorError
from tests.e2e.lingering_client import free_slot, lingering_client
from tests.e2e.sdk_viewer import SdkViewer, viewing
from tests.e2e.serving import ROOT, Served, own_address, serving
from tests.e2e.strain import strain
from tests.e2e.tones import longest_quiet_s, strongest_hz
from tests.e2e.wire_client import SESSION, WireClient, signaling_to, wire_client
from tests.models.flashes_and_beeps import FPS
from tests.unit.recording.material import levels, needs_ffprobe, probe, typical_offset

from reactor_runtime.wire.reactor_pb2 import ControlClientMessage, MessageKind

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(
        own_address() is None,
        reason="the SDK finds no candidates when loopback is the only address",
    ),
]

MANIFEST = """
runtime:
  import: tests.models.{model}
  recording: {{enabled: true, chunk_seconds: 1}}
"""
FLASHES, NOISE = "flashes_and_beeps:FlashesAndBeeps", "changes_its_size:ChangesItsSize"


def folder_of(tmp_path: Path, model: str) -> Path:
    """A folder with a manifest that records *model*."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "reactor.yaml").write_text(MANIFEST.format(model=model))
    return folder


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Where recordings lie."""
    return tmp_path / "disk"


@pytest.fixture
def served(tmp_path: Path, disk: Path) -> Iterator[Served]:
    folder = folder_of(tmp_path, FLASHES)
    with serving(folder, "--recordings-path", str(disk), PYTHONPATH=str(ROOT)) as served:
        yield served


async def download(viewer: SdkViewer, clip: Any, path: Path) -> Path:
    await asyncio.wait_for(viewer.reactor.download(clip, path), 30)
    return path


def promised_length(served: Served, clip: Any) -> float:
    """Return the seconds that a clip's playlist says it lasts."""
    playlist = served.get(clip.playlist_url.removeprefix(served.url))[1]
    return sum(map(float, re.findall(r"#EXTINF:([\d.]+)", playlist)))


@needs_ffprobe
async def test_the_sdk_fetches_clips_and_recordings(served: Served, tmp_path: Path) -> None:
    async with viewing(served.url) as viewer:
        await viewer.frames(4 * FPS, timeout_s=30)
        clip = await viewer.reactor.request_clip(2)
        assert clip.kind == "snap"
        assert clip.end_marker - clip.start_marker == pytest.approx(2, abs=0.01)
        path = await download(viewer, clip, tmp_path / "clip.mp4")
        said = probe(path)
        length_s = promised_length(served, clip)
        assert length_s == pytest.approx(3, abs=1)  # in whole segments of a second
        assert said.start_s == pytest.approx(0, abs=1 / FPS)
        assert said.duration_s == pytest.approx(length_s, abs=1 / FPS)
        assert said.streams["video"]["codec_name"] == "h264"
        assert said.streams["audio"]["codec_name"] == "aac"
        assert typical_offset(path) <= 1 / FPS
        played = await asyncio.to_thread(probe, clip.playlist_url)
        assert played.duration_s == pytest.approx(length_s, abs=1 / FPS)
        recording = await viewer.reactor.request_recording()
        assert (recording.kind, recording.start_marker) == ("recording", 0.0)
        path = await download(viewer, recording, tmp_path / "recording.mp4")
        said = probe(path)
        length_s = promised_length(served, recording)
        assert length_s > recording.end_marker - 1 / FPS
        assert said.duration_s == pytest.approx(length_s, abs=1 / FPS)
        times = [at for at, _ in levels(path)]
        gaps = sorted(b - a for a, b in pairwise(times))  # a busy machine stretches some of them
        assert gaps[len(gaps) // 10] == pytest.approx(1 / FPS, abs=0.002)
        assert said.fps() < FPS * 1.02
        assert typical_offset(path) <= 1 / FPS
        address = recording.playlist_url.replace("/clips?", "/clips/file?")
        whole = await asyncio.to_thread(lambda: urllib.request.urlopen(address).read())
        assert whole == path.read_bytes()
        assert viewer.errors == []
    descriptor = json.loads(served.get("/session")[1])
    assert descriptor["recording"] == {"enabled": True, "chunk_seconds": 1.0}


async def test_without_a_recorder_the_sdk_hears_that_there_is_none() -> None:
    with serving(f"tests.models.{FLASHES}") as served:
        async with viewing(served.url) as viewer:
            await viewer.frames(3)
            with pytest.raises(ReactorError) as refusal:
                await viewer.reactor.request_clip(2)
            assert refusal.value.code == "RECORDER_DISABLED"


async def test_a_recording_outlives_its_session_and_not_its_time(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, FLASHES)
    with serving(folder, "--recordings-keep", "3", PYTHONPATH=str(ROOT)) as served:
        async with viewing(served.url) as viewer:
            await viewer.frames(FPS, timeout_s=30)
            clip = await viewer.reactor.request_recording()
        served.wait_for_state("ready")
        address = clip.playlist_url.removeprefix(served.url)
        deadline = time.monotonic() + 20
        while (status := served.get(address)[0]) == 202:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)  # polling another process: it has no condition to wait on
        assert status == 200
        while (status := served.get(address)[0]) == 200:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)  # polling another process: it has no condition to wait on
        assert status == 410


async def test_operators_hear_of_segments_and_clips(served: Served) -> None:
    async with viewing(served.url) as viewer:
        await viewer.frames(2 * FPS, timeout_s=30)
        clip = await viewer.reactor.request_clip(1)
        assert await events_until(served, "clip_ready")
    heard = await events_until(served, "cleanup_complete")
    ready = [e["detail"] for e in heard if e["event"] == "chunk_ready"]
    assert [detail["idx"] for detail in ready] == list(range(-1, len(ready) - 1))
    assert len(ready) >= 2
    assert {detail["recording_id"] for detail in ready} == {clip.session_id}
    [promised] = [e["detail"] for e in heard if e["event"] == "clip_ready"]
    assert promised["session_id"] == clip.session_id


async def events_until(served: Served, last: str) -> list[dict[str, Any]]:
    """Return the events so far and those until *last*."""

    def read() -> list[dict[str, Any]]:
        heard = []
        with urllib.request.urlopen(served.url + "/events?since=0", timeout=20) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    heard.append(json.loads(line[6:]))
                    if heard[-1]["event"] == last:
                        return heard
        raise AssertionError(f"no {last}")

    return await asyncio.to_thread(read)


# --- what went wrong elsewhere ---


@pytest.mark.parametrize("singer", ["Int16At16", "FloatStereoAt44", "FloatSecondsAt48"])
async def test_a_recorded_tone_is_whole_at_its_pitch_without_a_gap(
    tmp_path: Path, disk: Path, singer: str
) -> None:
    """Sound of any rate, type and chunks, empty ones between them."""
    folder = folder_of(tmp_path, f"sings:{singer}")
    with serving(folder, "--recordings-path", str(disk), PYTHONPATH=str(ROOT)) as served:
        async with wire_client(served.url, ("voice", "audio")) as client:
            await until(lambda: len(client.frames["voice"]) > 200, 30)  # of 20 ms
            [ready] = [m.clip_ready for m in await ask_for_clips(client, 1, 60.0)]
        clip = f"session_id={ready.session_id}&start=0&end={ready.end_marker}"
        path = tmp_path / "song.mp4"
        path.write_bytes(await asyncio.to_thread(fetch, f"{served.url}/clips/file?{clip}"))
        assert "error" not in served.log()
    sound = sound_of(path)
    assert len(sound) / 48_000 >= ready.end_marker - 0.1
    assert strongest_hz(sound) == pytest.approx(440, abs=2)
    assert longest_quiet_s(sound[4800:-4800]) < 0.02 * strain() ** 2


def fetch(address: str) -> bytes:
    """Return the body at *address* as soon as there is one."""

    def body() -> bytes | None:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return bytes(answer.read()) if answer.status == 200 else None

    return wait_for(body)


def sound_of(path: Path) -> NDArray[np.int16]:
    with av.open(str(path)) as film:
        floats = np.concatenate([f.to_ndarray()[0] for f in film.decode(audio=0)])
    return (floats * 32767).astype(np.int16)


async def ask_for_clips(client: WireClient, count: int, seconds: float) -> list[Any]:
    """Ask for *count* clips in one breath and return every answer."""
    for number in range(count):
        request = ControlClientMessage(
            request_id=f"clip_{number}", kind=MessageKind.MESSAGE_KIND_REQUEST
        )
        request.request_clip.duration_seconds = seconds
        client.channels["control"].send(request.SerializeToString())

    def answers() -> list[Any]:
        return [m for m in client.notices if m.request_id.startswith("clip_")]

    await until(lambda: len(answers()) == count, 20)
    return answers()


async def test_a_flood_of_requests_for_clips_slows_nobody(served: Served) -> None:
    """Each gets one answer; past their rate it is a refusal."""
    async with wire_client(served.url, ("main_video", "video")) as client:
        await until(lambda: len(client.frames["main_video"]) > FPS, 20)
        seen = len(client.frames["main_video"])
        answers = await ask_for_clips(client, 2000, 1.0)
        kinds = [answer.WhichOneof("payload") for answer in answers]
        assert {"clip_ready", "error"} == {*kinds}
        assert {a.error.code for a in answers if a.error.code} == {"overloaded"}
        await until(lambda: len(client.frames["main_video"]) > seen + FPS, 20)
        assert served.get("/health")[0] == 200
    assert "Traceback" not in served.log()


async def test_a_killed_viewer_leaves_its_recording_whole_and_the_next_one_its_own(
    served: Served,
) -> None:
    """The session is free again, and what was recorded of it is kept."""
    async with lingering_client(served) as doomed:
        heard = await events_until(served, "chunk_ready")
        doomed.kill()
        await doomed.wait()
    lost = heard[-1]["detail"]["recording_id"]
    async with signaling_to(served.url) as signaling:
        await free_slot(signaling)
    film = await asyncio.to_thread(
        fetch, f"{served.url}/clips/file?session_id={lost}&start=0&end=1"
    )
    assert b"moof" in film
    async with viewing(served.url, SESSION) as viewer:
        await viewer.frames(2 * FPS, timeout_s=30)
        own = await viewer.reactor.request_recording()
        assert (own.start_marker, own.session_id != lost) == (0.0, True)


# --- what is left on disk ---


def lying_in(disk: Path) -> list[Path]:
    return sorted(disk.glob("reactor-recordings-*"))


def everything_in(disk: Path) -> list[Path]:
    return sorted(disk.rglob("*"))


async def record_something(served: Served, disk: Path) -> None:
    async with viewing(served.url) as viewer:
        await viewer.frames(FPS, timeout_s=30)
        clip = await viewer.reactor.request_clip(1)
        await asyncio.wait_for(viewer.reactor.download(clip), 30)
    assert everything_in(disk)


async def test_nothing_is_left_when_the_server_is_told_to_stop(served: Served, disk: Path) -> None:
    await record_something(served, disk)
    assert served.stop() == 0
    assert everything_in(disk) == []


async def test_a_crash_is_swept_up_by_the_next_start_and_a_live_server_left_alone(
    served: Served, disk: Path, tmp_path: Path
) -> None:
    await record_something(served, disk)
    served.stop(signal.SIGKILL)
    [left] = lying_in(disk)
    flags, model = ("--record", "--recordings-path", str(disk)), f"tests.models.{FLASHES}"
    with serving(model, *flags) as second:
        assert left not in lying_in(disk)
        await record_something(second, disk)
        [lives] = lying_in(disk)
        files = set(everything_in(lives))
        with serving(model, *flags) as third:
            assert len(lying_in(disk)) == 2
            assert third.stop() == 0
        assert files <= set(everything_in(lives))  # it goes on recording
        assert second.stop() == 0
    assert everything_in(disk) == []


# --- what endangers a recording, and nothing else ---


async def test_a_size_that_changes_leaves_stream_and_recording_whole(
    tmp_path: Path, disk: Path
) -> None:
    folder = folder_of(tmp_path, NOISE)
    with serving(folder, "--recordings-path", str(disk), PYTHONPATH=str(ROOT)) as served:
        async with viewing(served.url) as viewer:
            await viewer.frames(FPS, timeout_s=30)
            for size in ("wide", "odd", "small"):
                await viewer.reactor.send_command("set_size", {"size": size})
                await viewer.frames(FPS, timeout_s=30)
            clip = await viewer.reactor.request_recording()
            path = await download(viewer, clip, tmp_path / "film.mp4")
            assert viewer.errors == []
        address = clip.playlist_url.removeprefix(served.url).replace("/clips?", "/clips/metadata?")
        notes = json.loads(served.get(address)[1])
        assert "recording_failed" not in served.log()
    shown = levels(path)
    assert shown[-1][0] > 3
    assert len(shown) > 3 * FPS
    numbers = [entry["value"]["number"] for entry in notes["entries"]]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 3 * FPS


SMALL_DISK = "mount -t tmpfs -o size=1m tmpfs"


def test_a_full_disk_shortens_the_recording_and_spares_the_stream(
    tmp_path: Path, disk: Path
) -> None:
    disk.mkdir()
    # With processes of its own, so that none of them is left if this one has to be killed.
    own = ("--mount", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc")
    enter = ["unshare", *own, "sh", "-c"]
    mount = f"{SMALL_DISK} {disk}"
    probe = subprocess.run([*enter, mount], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"no mount namespace: {probe.stderr.decode(errors='replace').strip()}")
    folder = folder_of(tmp_path, NOISE)
    body = f"on_a_small_disk({str(folder)!r}, {str(disk)!r})"
    script = f"import asyncio; from {__name__} import on_a_small_disk; asyncio.run({body})"
    done = subprocess.run(
        [*enter, f'{mount} && exec "$PYTHON" -c "$SCRIPT"'],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYTHON": sys.executable,
            "SCRIPT": script,
        },
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def fill_up(disk: Path) -> None:
    """Write until there is no room, as another program may."""
    with (disk / "somebody_elses").open("wb", buffering=0) as sink, contextlib.suppress(OSError):
        while True:
            sink.write(b"x" * 4096)


async def on_a_small_disk(folder: str, disk: str) -> None:
    """What the test above runs where the recordings' disk holds one megabyte."""
    flags = ("--recordings-path", disk, "--min-free-disk", "0")
    with serving(folder, *flags, PYTHONPATH=str(ROOT)) as served:
        async with viewing(served.url) as viewer:
            async with asyncio.timeout(60):
                await viewer.frames(FPS, timeout_s=30)
                clip = await viewer.reactor.request_recording()
                while clip.start_marker < 1:  # until the beginning has made room
                    await viewer.frames(FPS // 2, timeout_s=30)
                    clip = await viewer.reactor.request_recording()
            film = Path(disk).parent / "film.mp4"
            newest = await viewer.reactor.request_clip(1)  # the oldest goes while it is fetched
            await download(viewer, newest, film)
            assert levels(film)
            fill_up(Path(disk))
            await viewer.frames(2 * FPS, timeout_s=30)
            assert viewer.errors == []
            figures = served.get("/metrics")[1]
            assert 'reactor_frames_dropped_total{reason="encoder_failed"' not in figures
        assert served.stop() == 0
        assert "Traceback" not in served.log()
