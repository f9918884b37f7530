"""Recordings on disk: bounded in size and time, gone with their owner, cut short by a full disk."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.recording import Recording, Segment
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.scratch_folder import ScratchFolder
from reactor_runtime.testing.fake_clock import FakeClock

MakeShelf = Callable[..., Shelf]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def make_shelf(tmp_path: Path, clock: FakeClock) -> Iterator[MakeShelf]:
    shelves = []

    def make(max_bytes: int = 1000, keep_s: float = 300.0) -> Shelf:
        folder = ScratchFolder("recordings", tmp_path)
        folder.open()
        shelf = Shelf(folder, max_bytes=max_bytes, keep_s=keep_s, clock=clock, metrics=Metrics())
        shelves.append(shelf)
        return shelf

    yield make
    for shelf in shelves:
        shelf.close()
    assert list(tmp_path.iterdir()) == []


def fill(shelf: Shelf, recording: Recording, count: int, size: int = 100) -> None:
    for _ in range(count):
        number = recording.next_number()
        shelf.store(recording, (2.0 * number, 2.0 * number + 2), b"f" * (size - 10), b"n" * 10)


def files(root: Path) -> set[str]:
    return {path.name for path in root.rglob("chunk_*")}


def test_what_is_stored_can_be_read(make_shelf: MakeShelf) -> None:
    shelf = make_shelf()
    recording = shelf.begin()
    assert shelf.find(recording.id) is recording
    assert shelf.find("f" * 32) is None
    segment = shelf.store(recording, (0.0, 2.0), b"film", b"notes")
    assert recording.segments == (segment,)
    assert (shelf.film(recording, segment), shelf.notes(recording, segment)) == (b"film", b"notes")
    bare = shelf.store(recording, (2.0, 4.0), b"more", b"")
    assert shelf.notes(recording, bare) == b""
    assert recording.closed_until_s == 4.0


def test_ids_are_128_bits_and_never_the_same(make_shelf: MakeShelf) -> None:
    shelf = make_shelf()
    ids = {shelf.begin().id for _ in range(50)}
    assert len(ids) == 50
    assert {len(bytes.fromhex(each)) for each in ids} == {16}


def test_past_the_size_the_oldest_seconds_go(make_shelf: MakeShelf, tmp_path: Path) -> None:
    shelf = make_shelf(max_bytes=500)
    first, second = shelf.begin(), shelf.begin()
    fill(shelf, first, 3)
    shelf.end(first)
    fill(shelf, second, 4)
    assert [s.number for s in first.segments] == [2]
    fill(shelf, second, 3)
    assert first.segments == ()
    assert shelf.find(first.id) is None
    assert [s.number for s in second.segments] == [2, 3, 4, 5, 6]
    assert second.start_of(0) == 0.0  # what is gone is remembered by its time
    assert len(files(tmp_path)) == 10


async def test_a_recording_goes_its_time_after_the_session(
    make_shelf: MakeShelf, clock: FakeClock, tmp_path: Path
) -> None:
    shelf = make_shelf(keep_s=300)
    recording = shelf.begin()
    fill(shelf, recording, 2)
    await clock.advance(10_000)
    assert shelf.expire() is None  # the session lives
    shelf.end(recording)
    assert shelf.expire() == clock.now() + 300
    await clock.advance(299)
    assert shelf.find(recording.id) is recording
    await clock.advance(1)
    assert shelf.find(recording.id) is None
    assert shelf.expire() is None
    assert files(tmp_path) == set()
    gone = Segment(number=0, start_s=0, end_s=2, film_bytes=1)
    with pytest.raises(OSError, match="chunk_00000"):
        shelf.film(recording, gone)


def test_an_empty_recording_goes_at_once(make_shelf: MakeShelf) -> None:
    shelf = make_shelf()
    recording = shelf.begin()
    shelf.end(recording)
    assert shelf.find(recording.id) is None


def test_after_closing_nothing_is_stored(make_shelf: MakeShelf, tmp_path: Path) -> None:
    shelf = make_shelf()
    recording = shelf.begin()
    fill(shelf, recording, 1)
    shelf.close()
    shelf.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="not open"):
        fill(shelf, recording, 1)


ON_A_FULL_DISK = """
import sys
from pathlib import Path
from reactor_runtime.clock import SystemClock
from reactor_runtime.metrics import Metrics
from reactor_runtime.recording.shelf import Shelf
from reactor_runtime.scratch_folder import ScratchFolder

folder = ScratchFolder("recordings", Path(sys.argv[1]))
folder.open()
def shelf_that_leaves(free):
    return Shelf(
        folder,
        max_bytes=1 << 30,
        min_free_bytes=free,
        keep_s=300,
        clock=SystemClock(),
        metrics=Metrics(),
    )

shelf = shelf_that_leaves(0)
recording = shelf.begin()
for number in range(10):
    shelf.store(recording, (number, number + 1), b"f" * 200_000, b"")
print([each.number for each in recording.segments])
try:
    shelf.store(recording, (10, 11), b"f" * 2_000_000, b"")
except OSError as error:
    print(error.strerror)
print([each.number for each in recording.segments], recording.next_number())
shelf.store(recording, (11, 12), b"f" * 200_000, b"")
print([each.number for each in recording.segments])
shelf.end(recording)
polite = shelf_that_leaves(500_000)
second = polite.begin()
try:
    polite.store(second, (0, 1), b"f" * 200_000, b"")
except OSError as error:
    print(error.strerror)
shelf.close()
"""


def test_on_a_full_disk_the_oldest_seconds_make_room(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    mount = f"mount -t tmpfs -o size=1m tmpfs {tmp_path}"
    enter = ["unshare", "--mount", "--map-root-user", "sh", "-c"]
    probe = subprocess.run([*enter, mount], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("this user may not mount a disk of its own")
    script = f"{mount} && exec '{sys.executable}' -c \"$PROGRAM\" {tmp_path}"
    done = subprocess.run(
        [*enter, script],
        capture_output=True,
        text=True,
        env={"PROGRAM": ON_A_FULL_DISK, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept, refused, after, again, polite = done.stdout.splitlines()
    assert kept in ("[5, 6, 7, 8, 9]", "[6, 7, 8, 9]")
    assert refused == "there is too little room on the disk"
    assert after == f"{kept} 10"  # all of it would not have been enough
    assert again.endswith(", 10]")
    assert polite == "there is too little room on the disk"


def test_a_segment_larger_than_everything_may_be_is_refused_alone(make_shelf: MakeShelf) -> None:
    shelf = make_shelf(max_bytes=500)
    recording = shelf.begin()
    fill(shelf, recording, 2)
    with pytest.raises(OSError, match="larger than all recordings may be"):
        fill(shelf, recording, 1, size=501)
    assert [s.number for s in recording.segments] == [0, 1]
