"""The files of one session: reserved, sent, fetched, and gone with it."""

import asyncio
import errno
import os
import stat
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until

from reactor_runtime.errors import (
    BodyTooSlowError,
    TooManyRequestsError,
    UnknownUploadError,
    UploadAbsentError,
    UploadConflictError,
    UploadLimitError,
    UploadRefusedError,
    UploadStorageError,
)
from reactor_runtime.metrics import Metrics
from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.uploads.upload import UploadSpec
from reactor_runtime.uploads.upload_settings import UploadSettings
from reactor_runtime.uploads.upload_store import UploadStore

BASE = UploadSettings(
    max_file_bytes=1 << 20,
    max_session_bytes=4 << 20,
    min_free_bytes=0,
    stall_timeout_s=0.2,
    resolve_timeout_s=0.2,
)
PNG_30000 = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0\0\x75\x30" * 2 + b"\x08\x02" + b"\0" * 40


class Shelf:
    """A store, its clock and what lies on its disk."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.parent, self.clock, self.metrics = folder, FakeClock(), Metrics()
        wanted = replace(BASE, parent=folder, **settings)
        self.store = UploadStore(wanted, self.clock, self.metrics)

    @property
    def files(self) -> list[Path]:
        """Every file of a client that is on the disk."""
        return [p for p in self.parent.rglob("*") if p.is_file() and p.name != ".lock"]

    @property
    def remains(self) -> list[Path]:
        """Everything in the folder that the store was given."""
        return list(self.parent.iterdir())

    async def reserve(self, size: int = 3, upload_id: str = "a", name: str = "a.png") -> str:
        """Reserve a file and return where to send it."""
        spec = UploadSpec(upload_id=upload_id, name=name, mime_type="image/png", size=size)
        return (await self.store.reserve(spec)).slot

    async def send(self, slot: str, *pieces: bytes, announced: int | None = None) -> None:
        await self.store.receive(slot, announced, these(*pieces))

    async def keep(self, data: bytes = b"abc", upload_id: str = "a") -> None:
        await self.send(await self.reserve(len(data), upload_id), data)


async def these(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def slowly(*pieces: bytes, then: Callable[[], Any] | None = None) -> AsyncIterator[bytes]:
    """Yield *pieces* and then neither more nor an end."""
    for piece in pieces:
        yield piece
    if then is not None:
        then()
    await asyncio.get_running_loop().create_future()


async def broken_off(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
    raise ConnectionResetError("the sender has gone")


@asynccontextmanager
async def shelf_in(folder: Path, **settings: Any) -> AsyncIterator[Shelf]:
    shelf = Shelf(folder, **settings)
    yield shelf
    await shelf.store.close()
    assert shelf.remains == []


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with shelf_in(tmp_path) as shelf:
        yield shelf


# --- the way of a file ---------------------------------------------------------------------------


async def test_a_file_is_fetched_as_it_was_sent(shelf: Shelf) -> None:
    data = os.urandom(700_001)
    slot = await shelf.reserve(len(data), name="../../etc/passwd")
    await shelf.send(slot, data[:1], b"", data[1:600_000], data[600_000:], announced=len(data))
    file = (await shelf.store.fetch(["a"]))["a"]
    assert (file.name, file.mime_type, file.data) == ("../../etc/passwd", "image/png", data)
    [path] = shelf.files
    assert path.read_bytes() == data
    assert path.is_relative_to(shelf.parent)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "passwd" not in str(path)


async def test_a_file_is_read_once_while_somebody_has_it(shelf: Shelf) -> None:
    await shelf.keep(b"abc")
    first, second = await asyncio.gather(shelf.store.fetch(["a"]), shelf.store.fetch(["a", "a"]))
    assert first["a"] is second["a"]
    assert shelf.store.at_hand.get("a") is first["a"]
    del first, second
    await until(lambda: shelf.store.at_hand.get("a") is None)  # its bytes are in nobody's way
    assert (await shelf.store.fetch(["a"]))["a"].data == b"abc"


async def test_whoever_is_early_waits_for_the_bytes(shelf: Shelf) -> None:
    slot = await shelf.reserve()
    waiting = asyncio.create_task(shelf.store.fetch(["a"]))
    await asyncio.sleep(0)
    assert shelf.store.knows("a")
    assert not waiting.done()
    await shelf.send(slot, b"abc")
    assert (await waiting)["a"].data == b"abc"


async def test_what_does_not_come_is_waited_for_so_long_and_no_longer(shelf: Shelf) -> None:
    await shelf.reserve()
    with pytest.raises(UploadAbsentError, match=r"did not arrive within 0\.2 s"):
        await shelf.store.fetch(["a"])


async def test_what_nobody_reserved_is_known_to_be_absent(shelf: Shelf) -> None:
    assert not shelf.store.knows("a")
    with pytest.raises(UploadAbsentError, match="nobody reserved"):
        await shelf.store.fetch(["a"])
    with pytest.raises(UnknownUploadError):
        await shelf.send("a", b"abc")


async def test_a_file_is_announced_once(shelf: Shelf) -> None:
    assert not shelf.store.announce("a")
    await shelf.keep()
    assert [shelf.store.announce("a") for _ in range(3)] == [True, False, False]


async def test_ids_are_128_random_bits_and_addresses_are_secrets_of_their_own(shelf: Shelf) -> None:
    slots = {await shelf.reserve(upload_id=f"mine-{n}") for n in range(50)}
    assert len(slots) == 50
    assert all(len(slot) == 32 and int(slot, 16) for slot in slots)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"name": ""}, UploadRefusedError, "name must have 1 to 4096 characters"),
        ({"name": "a" * 4097}, UploadRefusedError, "name must have"),
        ({"name": "\ud800"}, UploadRefusedError, "half a character"),
        ({"mime_type": ""}, UploadRefusedError, "mime_type must have"),
        ({"mime_type": "a" * 256}, UploadRefusedError, "mime_type must have"),
        ({"upload_id": ""}, UploadRefusedError, "upload_id must have"),
        ({"upload_id": "a" * 129}, UploadRefusedError, "upload_id must have"),
        ({"size": 0}, UploadRefusedError, "at least 1 byte"),
        ({"size": -1}, UploadRefusedError, "at least 1 byte"),
        ({"size": (1 << 20) + 1}, UploadLimitError, r"at most 1 MiB a file \(max_upload\)"),
    ],
)
async def test_a_reservation_that_cannot_be_right_is_refused(
    shelf: Shelf, change: dict[str, Any], error: type[Exception], words: str
) -> None:
    right = UploadSpec(upload_id="a", name="a", mime_type="a/b", size=1)
    with pytest.raises(error, match=words):
        await shelf.store.reserve(replace(right, **change))
    assert not shelf.store.knows("a")


@pytest.mark.parametrize(
    "name",
    ["../../x", "/etc/passwd", "..", ".", "a\\b", "a\0b", "con", "a" * 4096, "\u2025\u2215x"],
)
async def test_any_name_is_a_label(shelf: Shelf, name: str) -> None:
    await shelf.send(await shelf.reserve(name=name), b"abc")
    assert (await shelf.store.fetch(["a"]))["a"].name == name
    assert len(shelf.files) == 1


async def test_a_taken_id_is_a_conflict(shelf: Shelf) -> None:
    await shelf.reserve()
    with pytest.raises(UploadConflictError, match="taken"):
        await shelf.reserve()


async def test_a_file_is_sent_once(shelf: Shelf) -> None:
    slot = await shelf.reserve()
    sending = asyncio.create_task(shelf.store.receive(slot, None, slowly(b"a")))
    await until(lambda: bool(sending.get_coro()) and not sending.done() and len(shelf.files) == 0)
    await asyncio.sleep(0)
    with pytest.raises(UploadConflictError, match="being sent"):
        await shelf.send(slot, b"abc")
    with pytest.raises(BodyTooSlowError):
        await sending
    await shelf.send(slot, b"abc")
    with pytest.raises(UploadConflictError, match="sent already"):
        await shelf.send(slot, b"abc")
    assert (await shelf.store.fetch(["a"]))["a"].data == b"abc"


@pytest.mark.parametrize(
    ("pieces", "announced", "error", "words"),
    [
        ([b"ab"], None, UploadRefusedError, "fewer than the 3 bytes"),
        ([], None, UploadRefusedError, "fewer"),
        ([b"abcd"], None, UploadRefusedError, "more than the 3 bytes"),
        ([b"ab", b"cd"], None, UploadRefusedError, "more"),
        ([b"abc"], 2, UploadRefusedError, "fewer"),
        ([b"abc"], 4, UploadRefusedError, "more"),
        ([b"abc"], (1 << 20) + 1, UploadLimitError, "too large"),
        ([b"x" * ((1 << 20) + 1)], None, UploadLimitError, "too large"),
    ],
)
async def test_another_size_than_reserved_leaves_nothing_and_may_be_mended(
    shelf: Shelf, pieces: list[bytes], announced: int | None, error: type[Exception], words: str
) -> None:
    slot = await shelf.reserve()
    with pytest.raises(error, match=words):
        await shelf.send(slot, *pieces, announced=announced)
    await until(lambda: shelf.files == [])
    await shelf.send(slot, b"abc")
    assert (await shelf.store.fetch(["a"]))["a"].data == b"abc"


async def test_no_more_is_read_than_was_reserved(shelf: Shelf) -> None:
    slot, read = await shelf.reserve(1 << 20), 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 65536
            yield b"x" * 65536

    with pytest.raises(UploadLimitError):
        await shelf.store.receive(slot, None, endless())
    assert read == (1 << 20) + 65536
    await until(lambda: shelf.files == [])


async def test_all_files_of_a_session_together_are_bounded(shelf: Shelf) -> None:
    for n in range(4):
        await shelf.reserve(1 << 20, f"{n}")
    with pytest.raises(UploadLimitError, match=r"at most 4 MiB a session \(max_session_uploads\)"):
        await shelf.reserve(1, "more")
    shelf.store.clear()
    await shelf.reserve(1, "more")


async def test_small_files_count_for_something(shelf: Shelf) -> None:
    for n in range(64):
        await shelf.reserve(1, f"{n}")
    with pytest.raises(UploadLimitError):
        await shelf.reserve(1, "more")


async def test_a_burst_of_reservations_is_slowed_down(tmp_path: Path) -> None:
    async with shelf_in(tmp_path, reservation_burst=3, reservations_per_s=1) as shelf:
        for n in range(3):
            await shelf.reserve(1, f"{n}")
        with pytest.raises(TooManyRequestsError):
            await shelf.reserve(1, "more")
        shelf.clock.jump(1.01)
        await shelf.reserve(1, "more")


async def test_only_so_many_files_are_on_their_way_at_once(tmp_path: Path) -> None:
    async with shelf_in(tmp_path, max_receiving=2) as shelf:
        slots = [await shelf.reserve(upload_id=f"{n}") for n in range(3)]
        sending = [asyncio.create_task(shelf.store.receive(s, 3, slowly(b"a"))) for s in slots[:2]]
        await asyncio.sleep(0)
        with pytest.raises(TooManyRequestsError):
            await shelf.send(slots[2], b"abc")
        for each in sending:
            with pytest.raises(BodyTooSlowError):
                await each
        await shelf.send(slots[2], b"abc")


async def test_a_reservation_lapses_and_makes_room(shelf: Shelf) -> None:
    slots = [await shelf.reserve(1 << 20, f"{n}") for n in range(4)]
    waiting = asyncio.create_task(shelf.store.fetch(["0"]))
    await asyncio.sleep(0)
    await shelf.send(slots[3], b"x" * (1 << 20))
    shelf.clock.jump(121)
    assert not shelf.store.knows("1")
    assert shelf.store.knows("3")
    with pytest.raises(UnknownUploadError):
        await shelf.send(slots[2], b"x")
    for n in range(4, 7):
        await shelf.reserve(1 << 20, f"{n}")
    with pytest.raises(UploadAbsentError, match="never sent"):
        await waiting


async def test_a_disk_without_room_takes_no_more(tmp_path: Path) -> None:
    found = os.statvfs(tmp_path)
    free = found.f_bavail * found.f_frsize
    async with shelf_in(tmp_path, min_free_bytes=free + (1 << 40)) as shelf:
        with pytest.raises(UploadStorageError, match=r"another 3 bytes \(min_free_disk\)"):
            await shelf.reserve()
        assert not shelf.store.knows("a")


async def test_what_is_reserved_counts_against_the_disk(tmp_path: Path) -> None:
    found = os.statvfs(tmp_path)
    free = found.f_bavail * found.f_frsize
    async with shelf_in(
        tmp_path,
        min_free_bytes=max(0, free - (1 << 30)),
        max_file_bytes=1 << 50,
        max_session_bytes=1 << 50,
    ) as shelf:
        await shelf.reserve(1 << 29, "half")
        with pytest.raises(UploadStorageError):
            await shelf.reserve(1 << 30, "all")


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shelf = Shelf(tmp_path / "file")
    with pytest.raises(UploadStorageError, match="cannot be kept here"):
        await shelf.reserve()
    await shelf.store.close()


async def test_a_full_disk_breaks_off_the_one_file(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def full(descriptor: int, data: Any) -> int:
        if threading.current_thread().name.startswith("reactor-uploads") and len(data) > 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    slot = await shelf.reserve(1000, "large")
    with pytest.raises(UploadStorageError, match="the disk is full"):
        await shelf.send(slot, b"x" * 1000)
    await until(lambda: shelf.files == [])
    await shelf.keep(b"small", "small")


async def test_a_picture_that_claims_to_be_huge_is_refused_undecoded(shelf: Shelf) -> None:
    slot = await shelf.reserve(len(PNG_30000))
    with pytest.raises(UploadLimitError, match=r"30000 x 30000 pixels .* at most 100 million"):
        await shelf.send(slot, PNG_30000)
    await until(lambda: shelf.files == [])


# --- senders that falter -------------------------------------------------------------------------


async def test_a_sender_that_stalls_is_given_up(shelf: Shelf) -> None:
    slot = await shelf.reserve()
    with pytest.raises(BodyTooSlowError):
        await shelf.store.receive(slot, 3, slowly(b"a"))
    await until(lambda: shelf.files == [])


async def test_a_sender_that_drips_is_given_up(tmp_path: Path) -> None:
    async def drips() -> AsyncIterator[bytes]:
        while True:
            yield b"x"
            await asyncio.sleep(0.01)

    async with shelf_in(tmp_path, min_bytes_per_s=1 << 20) as shelf:
        slot = await shelf.reserve(1 << 18)
        async with asyncio.timeout(10):
            with pytest.raises(BodyTooSlowError):
                await shelf.store.receive(slot, None, drips())


async def test_a_sender_that_breaks_off_leaves_nothing_and_may_come_back(shelf: Shelf) -> None:
    data = b"x" * 700_000
    slot = await shelf.reserve(len(data))
    with pytest.raises(ConnectionResetError):
        await shelf.store.receive(slot, len(data), broken_off(data[:-1]))
    await until(lambda: shelf.files == [])
    await shelf.send(slot, data)
    [path] = shelf.files
    assert path.read_bytes() == data
    text = shelf.metrics.render().decode()
    assert 'reactor_uploads_total{outcome="broken_off"} 1.0' in text
    assert 'reactor_uploads_total{outcome="complete"} 1.0' in text


async def test_a_cancelled_attempt_leaves_nothing(shelf: Shelf) -> None:
    slot = await shelf.reserve(1 << 20)
    began = asyncio.Event()
    pieces = slowly(b"x" * 600_000, then=began.set)
    sending = asyncio.create_task(shelf.store.receive(slot, None, pieces))
    await began.wait()
    await until(lambda: len(shelf.files) == 1)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    await until(lambda: shelf.files == [])


async def test_a_file_that_changes_on_the_disk_is_never_handed_on(shelf: Shelf) -> None:
    await shelf.keep(b"abc")
    [path] = shelf.files
    path.write_bytes(b"abd")
    with pytest.raises(UploadAbsentError, match="damaged"):
        await shelf.store.fetch(["a"])
    path.unlink()
    with pytest.raises(UploadAbsentError, match="cannot be read"):
        await shelf.store.fetch(["a"])


# --- endings -------------------------------------------------------------------------------------


async def test_the_files_go_with_their_session(shelf: Shelf) -> None:
    await shelf.keep(b"abc")
    held = (await shelf.store.fetch(["a"]))["a"]
    shelf.store.clear()
    assert not shelf.store.knows("a")
    assert shelf.store.at_hand.get("a") is None
    await until(lambda: shelf.files == [])
    assert held.data == b"abc"  # what an author still holds stays whole
    await shelf.keep(b"new", "a")
    assert (await shelf.store.fetch(["a"]))["a"].data == b"new"


async def test_an_ending_session_stops_senders_and_those_who_wait(tmp_path: Path) -> None:
    async with shelf_in(tmp_path, stall_timeout_s=60, resolve_timeout_s=60) as shelf:
        slot = await shelf.reserve(1 << 20)
        began = asyncio.Event()
        pieces = slowly(b"x" * 600_000, then=began.set)
        sending = asyncio.create_task(shelf.store.receive(slot, None, pieces))
        waiting = asyncio.create_task(shelf.store.fetch(["a"]))
        await began.wait()
        shelf.store.clear()
        async with asyncio.timeout(10):
            with pytest.raises(UnknownUploadError):
                await sending
            with pytest.raises(UploadAbsentError):
                await waiting
        await until(lambda: shelf.files == [])


async def test_a_reservation_that_meets_the_end_is_void(shelf: Shelf) -> None:
    reserving = asyncio.create_task(shelf.reserve())
    await asyncio.sleep(0)
    shelf.store.clear()
    with pytest.raises(UnknownUploadError):
        await reserving
    assert not shelf.store.knows("a")


async def test_a_file_read_across_the_end_of_its_session_is_not_of_the_next(shelf: Shelf) -> None:
    await shelf.keep(b"old")
    reading = asyncio.create_task(shelf.store.fetch(["a"]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    shelf.store.clear()
    with pytest.raises(UploadAbsentError):
        await reading
    assert shelf.store.at_hand.get("a") is None


async def test_closing_twice_is_closing_once_and_nothing_is_taken_after(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    await shelf.keep()
    await shelf.store.close()
    await shelf.store.close()
    assert shelf.remains == []
    with pytest.raises(UploadStorageError, match="shutting down"):
        await shelf.reserve()
    assert shelf.remains == []


async def test_a_store_that_is_not_used_makes_nothing(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    shelf = Shelf(tmp_path)
    assert shelf.remains == []
    shelf.store.clear()
    assert set(threading.enumerate()) <= before
    await shelf.store.close()
