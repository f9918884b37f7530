"""UploadStore: the files of the running session, from their reservation to the model.

A file is reserved, sent, and referred to by commands, which may overtake it. Its bytes go to the
disk as they come and are read when a command wants them; the event loop only passes them on.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

from reactor_runtime.clock import Clock
from reactor_runtime.errors import (
    ReactorError,
    TooManyRequestsError,
    UploadAbsentError,
    UploadStorageError,
)
from reactor_runtime.log import get_logger
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.uploads.disk_threads import DiskThreads
from reactor_runtime.uploads.upload import Upload, UploadSpec
from reactor_runtime.uploads.upload_folder import UploadFolder
from reactor_runtime.uploads.upload_ledger import UploadLedger, mint_id, size_words
from reactor_runtime.uploads.upload_receiver import UploadReceiver
from reactor_runtime.uploads.upload_settings import UploadSettings

log = get_logger(__name__)

_CLOSE_S: Final = 2.0


class UploadStore:
    """Keeps files for one session at a time. Lives on the event loop; the disk is on threads.

    Args:
        settings: Limits and delays.
        clock: The time.
        metrics: The figures of this server.
    """

    def __init__(self, settings: UploadSettings, clock: Clock, metrics: Metrics) -> None:
        self._settings, self._clock, self._metrics = settings, clock, metrics
        self._threads, self._folder = DiskThreads(), UploadFolder(settings.parent)
        self._ledger, self._session = UploadLedger(settings, clock.now()), mint_id()
        self._receiving = 0
        self._at_hand: WeakValueDictionary[str, UploadedFile] = WeakValueDictionary()
        self._reads: dict[str, asyncio.Future[UploadedFile]] = {}

    async def sweep(self) -> None:
        """Remove what servers that are dead have left."""
        await self._threads.run(self._folder.sweep)

    # --- from senders ---

    async def reserve(self, spec: UploadSpec) -> Upload:
        """Admit a file that is to be sent.

        Raises:
            UploadRefusedError: What is said of it cannot be right.
            TooManyRequestsError: There were too many in a short time.
            UploadConflictError: Its id is taken.
            UploadLimitError: It is too large, or too much together with the others.
            UploadStorageError: The disk has no room for it.
            UnknownUploadError: The session has ended meanwhile.
        """
        ledger, session = self._ledger, self._session
        upload = ledger.add(spec, self._clock.now())
        try:
            free = await self._threads.run(self._room_for, session)
            upload.check()
            if free - ledger.awaited_bytes < self._settings.min_free_bytes:
                found = f"the disk has no room for another {size_words(spec.size)}"
                raise UploadStorageError(f"{found} (min_free_disk)")
        except BaseException:
            ledger.remove(upload)
            if session != self._session:
                self._threads.post(self._folder.remove, session)
            raise
        self._show()
        return upload

    async def receive(self, slot: str, announced: int | None, pieces: AsyncIterator[bytes]) -> None:
        """Take the bytes of a reserved file; after a failure it may be sent again.

        Args:
            slot: Where they were sent.
            announced: How many there are to be, where that was said.
            pieces: The bytes.

        Raises:
            UnknownUploadError: Nothing, or nothing any more, is reserved there.
            TooManyRequestsError: Too many others are on their way.
            UploadConflictError: They have come, or are coming already.
            UploadRefusedError: They are more or fewer than were reserved.
            UploadLimitError: They are, or say that they are, more than this server takes.
            UploadStorageError: The disk is full.
            BodyTooSlowError: They came too slowly, or not at all.
        """
        ledger, began = self._ledger, self._clock.now()
        upload = ledger.at(slot, began)
        if self._receiving >= self._settings.max_receiving:
            raise TooManyRequestsError("files at once", 1)
        path = self._folder.new_path(self._session)
        receiver = UploadReceiver(upload, path, self._settings, self._threads)
        upload.begin()
        self._receiving += 1
        try:
            upload.complete(path, await receiver.receive(announced, pieces))
        except BaseException as error:
            upload.fail(self._clock.now())
            receiver.discard()
            is_refused = isinstance(error, ReactorError)
            self._metrics.uploads.labels("refused" if is_refused else "broken_off").inc()
            log.info("upload_failed", size=upload.spec.size, reason=str(error))
            raise
        finally:
            self._receiving -= 1
        ledger.settle(upload)
        self._metrics.uploads.labels("complete").inc()
        took_s = round(self._clock.now() - began, 3)
        log.info("upload_complete", size=upload.spec.size, sha256=upload.sha256, seconds=took_s)

    # --- to the model ---

    @property
    def at_hand(self) -> Mapping[str, UploadedFile]:
        """The files whose bytes somebody holds in memory, by upload id."""
        return self._at_hand

    def knows(self, upload_id: str) -> bool:
        """Return whether a file of that id is here, or may still come."""
        return self._ledger.find(upload_id, self._clock.now()) is not None

    def announce(self, upload_id: str) -> bool:
        """Take note that a client has sent a file; ``False`` for a stranger and a second time."""
        upload = self._ledger.find(upload_id, self._clock.now())
        if upload is None or upload.is_announced:
            return False
        upload.is_announced = True
        return True

    async def fetch(self, upload_ids: Iterable[str]) -> dict[str, UploadedFile]:
        """Return files by id, waiting a while for those that are still on their way.

        Raises:
            UploadAbsentError: One of them does not come.
        """
        files: dict[str, UploadedFile] = {}
        limit_s, upload_id = self._settings.resolve_timeout_s, ""
        try:
            async with asyncio.timeout(limit_s):
                for upload_id in upload_ids:
                    files[upload_id] = await self._file(upload_id)
        except TimeoutError:
            raise UploadAbsentError(upload_id, f"did not arrive within {limit_s:g} s") from None
        return files

    # --- endings ---

    def clear(self) -> None:
        """End the session's files: senders are stopped, and whoever waits waits in vain."""
        ledger, self._ledger = self._ledger, UploadLedger(self._settings, self._clock.now())
        if not ledger.was_used:
            return
        session, self._session = self._session, mint_id()
        for upload in ledger:
            ledger.remove(upload)
        self._at_hand.clear()
        self._reads.clear()
        self._threads.post(self._folder.remove, session)
        self._show()

    async def close(self) -> None:
        """Remove everything and take no more. Idempotent."""
        self.clear()
        await self._threads.close(self._folder.close, _CLOSE_S)

    # --- parts of the above ---

    def _room_for(self, session: str) -> int:
        self._folder.make(session)
        return self._folder.free_bytes()

    async def _file(self, upload_id: str) -> UploadedFile:
        upload = self._ledger.find(upload_id, self._clock.now())
        if upload is None:
            raise UploadAbsentError(upload_id, "nobody reserved here")
        await upload.arrived()
        if (file := self._at_hand.get(upload_id)) is not None:
            return file
        if (reading := self._reads.get(upload_id)) is None:
            reading = self._reads[upload_id] = self._threads.run(_read, upload.path, upload)
            reading.add_done_callback(lambda _: self._reads.pop(upload_id, None))
        file = await asyncio.shield(reading)
        await upload.arrived()  # and is still here
        return self._at_hand.setdefault(upload_id, file)

    def _show(self) -> None:
        self._metrics.upload_bytes.set(self._ledger.charged_bytes)


def _read(path: Path, upload: Upload) -> UploadedFile:
    """Return the file as it was sent."""
    try:
        data = path.read_bytes()
    except OSError as error:
        log.error("upload_unreadable", reason=str(error))
        raise UploadAbsentError(upload.spec.upload_id, "cannot be read any more") from error
    if hashlib.sha256(data).hexdigest() != upload.sha256:
        log.error("upload_damaged", size=upload.spec.size)
        raise UploadAbsentError(upload.spec.upload_id, "was damaged on the server's disk")
    return UploadedFile(name=upload.spec.name, mime_type=upload.spec.mime_type, data=data)
