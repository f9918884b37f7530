"""Pictures that ranks make together: parts of every axis, growth, and parts that do not fit."""

import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import numpy as np
import pytest
from tests.contract.model_host.conftest import pool_of
from tests.contract.model_host.recording_outlet import Flushed, RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage

from reactor_runtime.host.host_outlet import HostFailure, StepReport


@pytest.fixture(params=[2, 4])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    outlet = RecordingOutlet()
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(pool_of(request.param)("paints_in_parts", outlet))
        opened = Stage(host, outlet)
        opened.open()
        yield opened


async def painted(stage: Stage, way: str, count: int = 1) -> list[Shown]:
    before = len(stage.outlet.of(Shown))
    await stage.ask("set_way", way=way)
    shown: list[Shown] = await stage.outlet.more(Shown, count, after=before)
    return shown


async def size_of(stage: Stage) -> int:
    return int((await stage.ask_text("who")).split()[-1])


@pytest.mark.parametrize(("way", "axis"), [("frames", 0), ("height", 1), ("width", 2)])
async def test_each_rank_writes_its_part(stage: Stage, way: str, axis: int) -> None:
    (shown,) = await painted(stage, way)
    size, video = await size_of(stage), shown.video["main_video"]
    parts = np.split(video, size, axis=axis)
    assert [int(part.min()) for part in parts] == [int(part.max()) for part in parts]
    assert [int(part.min()) for part in parts] == list(range(1, size + 1))


async def test_a_single_picture_may_be_shared_too(stage: Stage) -> None:
    (shown,) = await painted(stage, "picture")
    assert shown.video["main_video"].shape == (1, 4 * await size_of(stage), 6, 3)


async def test_the_leader_may_write_all_of_it(stage: Stage) -> None:
    (shown,) = await painted(stage, "leader")
    assert set(shown.video["main_video"].flat) == {1}  # as it was when it was emitted


async def test_the_last_rank_may_write_all_of_it(stage: Stage) -> None:
    (shown,) = await painted(stage, "last")
    assert shown.video["main_video"].shape == (6, 4, 6, 3)
    assert set(shown.video["main_video"].flat) == {await size_of(stage)}


async def test_several_tracks_and_outputs_keep_apart(stage: Stage) -> None:
    size = await size_of(stage)
    (shown,) = await painted(stage, "two_tracks")
    assert shown.video["main_video"][-1].max() == size
    assert shown.video["depth"][-1].max() == size + 10
    first, second = await painted(stage, "two_outputs", 2)
    assert (first.value, second.value) == (1, 11)


async def test_sound_is_the_leaders_and_metadata_that_of_who_wrote_the_frame(stage: Stage) -> None:
    (shown,) = await painted(stage, "with_sound")
    assert set(shown.audio["voice"].flat) == {0}
    ranks = range(await size_of(stage))
    told = tuple({"of": rank} for rank in ranks for _ in range(2))
    assert shown.chunk.metadata == {"main_video": told}
    (shown,) = await painted(stage, "told")
    told_apart = tuple(f"{rank} {which}" for rank in ranks for which in ("first", "second"))
    assert shown.chunk.metadata == {"main_video": told_apart}


async def test_one_word_of_whoever_says_one_is_for_the_whole(stage: Stage) -> None:
    (shown,) = await painted(stage, "told_by_last")
    assert shown.chunk.metadata == {"main_video": ("last", "last")}
    (shown,) = await painted(stage, "told_by_leader")
    assert shown.chunk.metadata == {"main_video": ("all",) * (2 * await size_of(stage))}


async def test_a_flush_drops_what_the_step_emitted_before_it(stage: Stage) -> None:
    (shown,) = await painted(stage, "flush")
    assert shown.video["main_video"].shape[1] == 4 * await size_of(stage)
    reports = [type(r) for r in stage.outlet.reports if isinstance(r, Flushed | Shown)]
    assert reports == [Flushed, Shown]


async def test_pictures_may_grow_and_shrink(stage: Stage) -> None:
    for frames in (1, 3, 40, 2, 80, 80, 1):
        before = len(stage.outlet.of(Shown))
        await stage.ask("set_frames", frames=frames)
        (shown,) = await stage.outlet.more(Shown, after=before)
        assert shown.video["main_video"].shape == (frames, 64, 64, 3)
        assert set(shown.video["main_video"].flat) == {1}


@pytest.mark.parametrize(
    ("way", "message", "words"),
    [
        ("gap", "FrameError", ["frames 2 to 3 are missing", "rank 0 gave 0 to 2", "start="]),
        ("half", "FrameError", ["rows 4 to 8 are missing of 8", "rank 1 gave nothing"]),
        ("shapes", "RankDesync", ["main_video", "rank 0", "rank 1"]),
        (
            "unequal",
            "RankDesync",
            ["rank 0 gave (2, 3, 6, 3) uint8", "rank 1 gave (2, 4, 6, 3) uint8", "start= and of="],
        ),
    ],
)
async def test_parts_that_make_no_picture_end_the_session(
    stage: Stage, caplog: pytest.LogCaptureFixture, way: str, message: str, words: list[str]
) -> None:
    with caplog.at_level(logging.ERROR):
        await stage.ask("set_way", way=way)
        await stage.closed()
    assert [failure.message for failure in stage.outlet.of(HostFailure)] == [message]
    assert all(word in caplog.text for word in words)


async def test_an_array_of_another_rank_is_dropped_and_warned_of_once(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        await stage.ask("set_way", way="stray")
        await stage.outlet.more(StepReport, 3)
        await painted(stage, "leader")
    (record,) = [r for r in caplog.records if "array_of_another_rank" in r.getMessage()]
    assert "rank=1" in record.getMessage()
    assert len(stage.outlet.of(Shown)) == 1
