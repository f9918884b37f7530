"""UploadReceiver: one attempt to send one file: counted, timed, and written piece by piece."""

import asyncio
import errno
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from reactor_runtime.errors import (
    BodyTooSlowError,
    UploadLimitError,
    UploadRefusedError,
    UploadStorageError,
)
from reactor_runtime.uploads.disk_threads import DiskThreads
from reactor_runtime.uploads.picture_size import picture_size
from reactor_runtime.uploads.upload import Upload
from reactor_runtime.uploads.upload_ledger import check_file_size
from reactor_runtime.uploads.upload_settings import UploadSettings
from reactor_runtime.uploads.upload_writer import UploadWriter

_BATCH: Final = 512 << 10  # bytes that go to a thread at once
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class UploadReceiver:
    """Takes the bytes of *upload* and writes them, while the next ones come in.

    The sender waits where the disk is slower: what is held in memory is two batches.

    Args:
        upload: The file, of which an attempt has begun.
        path: Where it goes; nobody else uses the name.
        settings: How much is taken, and how slowly.
        threads: Where the disk is waited for.
    """

    def __init__(
        self, upload: Upload, path: Path, settings: UploadSettings, threads: DiskThreads
    ) -> None:
        self._upload, self._settings, self._threads = upload, settings, threads
        self._writer = UploadWriter(path)
        self._writing: asyncio.Future[None] | None = None

    async def receive(self, announced: int | None, pieces: AsyncIterator[bytes]) -> str:
        """Return the SHA-256 of the whole file, in hex. After a failure, ``discard``.

        Raises:
            UnknownUploadError: Nobody wants it any more.
            UploadRefusedError: It has more or fewer bytes than were reserved.
            UploadLimitError: It is, or says that it is, larger than what is taken.
            UploadStorageError: The disk is full.
            BodyTooSlowError: It came too slowly, or not at all.
        """
        self._check_announced(announced)
        try:
            async with asyncio.timeout(None) as deadline:
                self._upload.deadline = deadline
                await self._take(pieces, deadline)
            sha256 = await self._threads.run(self._writer.finish)
            await self._check_picture()
        except TimeoutError:
            self._upload.check()  # its session has ended: that is what stopped it
            raise BodyTooSlowError(self._settings.stall_timeout_s) from None
        except OSError as error:
            self._upload.check()  # and its folder is gone
            if error.errno in _FULL:
                raise UploadStorageError("the disk is full") from error
            raise
        return sha256

    def discard(self) -> None:
        """Have everything removed that was written."""
        self._threads.post(self._writer.discard)

    def _check_announced(self, announced: int | None) -> None:
        if announced is not None:
            check_file_size(announced, self._settings)
            self._check_size(announced)

    def _check_size(self, size: int) -> None:
        reserved = self._upload.spec.size
        if size != reserved:
            more = "more" if size > reserved else "fewer"
            raise UploadRefusedError(f"the file has {more} than the {reserved} bytes reserved")

    async def _take(self, pieces: AsyncIterator[bytes], deadline: asyncio.Timeout) -> None:
        """Write what comes until it ends, or is too much, or too late."""
        now = asyncio.get_running_loop().time
        stall_s, reserved = self._settings.stall_timeout_s, self._upload.spec.size
        last = now() + stall_s + reserved / self._settings.min_bytes_per_s
        batch: list[bytes] = []
        size = batched = 0
        while True:
            self._upload.check()
            deadline.reschedule(min(now() + stall_s, last))
            piece = await anext(pieces, None)
            deadline.reschedule(None)  # the disk may take what it needs
            if piece is None:
                break
            size += len(piece)
            if size > reserved:
                check_file_size(size, self._settings)
                self._check_size(size)
            batch.append(piece)
            batched += len(piece)
            if batched >= _BATCH:
                await self._write(batch)
                batch, batched = [], 0
        self._check_size(size)
        await self._write(batch)
        await self._written()

    async def _write(self, batch: list[bytes]) -> None:
        await self._written()
        self._writing = self._threads.run(self._writer.write, batch)

    async def _written(self) -> None:
        if self._writing is not None:
            await self._writing

    async def _check_picture(self) -> None:
        size = await self._threads.run(picture_size, self._writer.path)
        limit = self._settings.max_picture_pixels
        if size is not None and size[0] * size[1] > limit:
            found = f"the picture says that it is {size[0]} x {size[1]} pixels large"
            raise UploadLimitError(found, f"{limit / 1e6:g} million", "max_picture_pixels")
