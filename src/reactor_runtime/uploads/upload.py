"""Upload: one file of a session, from its reservation to the session's end."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from reactor_runtime.errors import UnknownUploadError, UploadAbsentError, UploadConflictError


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadSpec:
    """What a client said of a file before it sent it.

    Attributes:
        upload_id: The name commands refer to it by.
        name: What the client calls it: a label, never a path.
        mime_type: What the client takes it for; unchecked.
        size: Bytes.
    """

    upload_id: str
    name: str
    mime_type: str
    size: int


class UploadState(StrEnum):
    """Where an upload is."""

    RESERVED = "reserved"
    RECEIVING = "receiving"
    COMPLETE = "complete"
    GONE = "gone"


class Upload:
    """One file. Lives on the event loop.

    ::

        reserved ⇄ receiving → complete        gone, from each of them

    Args:
        spec: What the client said of it.
        slot: The secret part of the address it is sent to.
        now: Monotonic seconds.

    Attributes:
        since: When it was reserved, or the last attempt to send it failed.
        path: Where the file lies once it is complete.
        sha256: What it came to, in hex.
        is_announced: Its client has said that it has sent it.
        deadline: Ends the attempt to send it that is under way.
    """

    def __init__(self, spec: UploadSpec, slot: str, now: float) -> None:
        self.spec, self.slot, self.since = spec, slot, now
        self.path, self.sha256 = Path(), ""
        self.is_announced = False
        self.deadline: asyncio.Timeout | None = None
        self._state = UploadState.RESERVED
        self._settled = asyncio.Event()

    @property
    def state(self) -> UploadState:
        """Where it is."""
        return self._state

    def begin(self) -> None:
        """Take note that its bytes are coming.

        Raises:
            UploadConflictError: They have come, or are coming already.
        """
        if self._state is UploadState.COMPLETE:
            raise UploadConflictError("this file has been sent already")
        if self._state is UploadState.RECEIVING:
            raise UploadConflictError("this file is being sent already")
        self.check()
        self._state = UploadState.RECEIVING

    def check(self) -> None:
        """Raise ``UnknownUploadError`` when it is gone."""
        if self._state is UploadState.GONE:
            raise UnknownUploadError

    def fail(self, now: float) -> None:
        """Take note that the attempt failed; there may be another."""
        self.deadline = None
        if self._state is UploadState.RECEIVING:
            self._state, self.since = UploadState.RESERVED, now

    def complete(self, path: Path, sha256: str) -> None:
        """Take note that the file is there.

        Raises:
            UnknownUploadError: It is gone: nobody wants the file.
        """
        self.deadline = None
        self.check()
        self.path, self.sha256 = path, sha256
        self._state = UploadState.COMPLETE
        self._settled.set()

    def forget(self) -> None:
        """End it: whoever sends it is stopped, whoever waits for it waits in vain."""
        self._state = UploadState.GONE
        self._settled.set()
        if self.deadline is not None:
            self.deadline.reschedule(asyncio.get_running_loop().time())

    async def arrived(self) -> None:
        """Wait until the file is there.

        Raises:
            UploadAbsentError: It never will be.
        """
        await self._settled.wait()
        if self._state is not UploadState.COMPLETE:
            raise UploadAbsentError(self.spec.upload_id, "was never sent")
