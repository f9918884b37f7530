"""UploadLedger: the files of one session by name and by address, and how much they are."""

import secrets
from collections.abc import Iterator

from reactor_runtime.errors import (
    TooManyRequestsError,
    UnknownUploadError,
    UploadConflictError,
    UploadLimitError,
    UploadRefusedError,
)
from reactor_runtime.token_bucket import TokenBucket
from reactor_runtime.uploads.upload import Upload, UploadSpec, UploadState
from reactor_runtime.uploads.upload_settings import UploadSettings

LEAST_CHARGE = 64 << 10  # bytes that any file counts for, so that their number is bounded too
MAX_NAME_CHARS = 4096
MAX_TYPE_CHARS = 255
MAX_ID_CHARS = 128


def mint_id() -> str:
    """Return 128 random bits as 32 hex digits."""
    return secrets.token_hex(16)


class UploadLedger:
    """Admits files until there are too many.

    Args:
        settings: What is too much.
        now: Monotonic seconds.

    Attributes:
        charged_bytes: What its files come to, those included that may still come.
        was_used: It has admitted a file.
    """

    def __init__(self, settings: UploadSettings, now: float) -> None:
        self._settings, self.was_used = settings, False
        self._by_id: dict[str, Upload] = {}
        self._by_slot: dict[str, Upload] = {}
        self._bucket = TokenBucket(settings.reservations_per_s, settings.reservation_burst, now)
        self._awaited: set[Upload] = set()
        self.charged_bytes = 0

    def __iter__(self) -> Iterator[Upload]:
        return iter(tuple(self._by_id.values()))

    @property
    def awaited_bytes(self) -> int:
        """Bytes that may still have to be written."""
        return sum(upload.spec.size for upload in self._awaited)

    def add(self, spec: UploadSpec, now: float) -> Upload:
        """Admit a file.

        Raises:
            UploadRefusedError: What is said of it cannot be right.
            TooManyRequestsError: There were too many in a short time.
            UploadConflictError: Its id is taken.
            UploadLimitError: It is too large, or too much together with the others.
        """
        self._check(spec)
        if not self._bucket.take(now):
            raise TooManyRequestsError("files", 1)
        self._forget_lapsed(now)
        if spec.upload_id in self._by_id:
            raise UploadConflictError("this upload_id is taken")
        limit = self._settings.max_session_bytes
        if self.charged_bytes + _charge(spec) > limit:
            found = "the files of this session are too much together"
            raise UploadLimitError(found, f"{size_words(limit)} a session", "max_session_uploads")
        upload = Upload(spec, mint_id(), now)
        self._by_id[spec.upload_id] = self._by_slot[upload.slot] = upload
        self._awaited.add(upload)
        self.charged_bytes += _charge(spec)
        self.was_used = True
        return upload

    def find(self, upload_id: str, now: float) -> Upload | None:
        """Return the file of that id, unless nobody has reserved it, or not lately."""
        upload = self._by_id.get(upload_id)
        if upload is not None and self._has_lapsed(upload, now):
            self.remove(upload)
            return None
        return upload

    def at(self, slot: str, now: float) -> Upload:
        """Return the file that is sent there.

        Raises:
            UnknownUploadError: None is.
        """
        upload = self._by_slot.get(slot)
        if upload is None or self._has_lapsed(upload, now):
            raise UnknownUploadError
        return upload

    def settle(self, upload: Upload) -> None:
        """Take note that a file is complete."""
        self._awaited.discard(upload)

    def remove(self, upload: Upload) -> None:
        """Forget a file."""
        upload.forget()
        self._awaited.discard(upload)
        if self._by_slot.pop(upload.slot, None) is not None:
            del self._by_id[upload.spec.upload_id]
            self.charged_bytes -= _charge(upload.spec)

    def _has_lapsed(self, upload: Upload, now: float) -> bool:
        is_idle = upload.state is UploadState.RESERVED
        return is_idle and now - upload.since > self._settings.reservation_s

    def _forget_lapsed(self, now: float) -> None:
        for upload in tuple(self._awaited):
            if self._has_lapsed(upload, now):
                self.remove(upload)

    def _check(self, spec: UploadSpec) -> None:
        for label, text, most in (
            ("name", spec.name, MAX_NAME_CHARS),
            ("mime_type", spec.mime_type, MAX_TYPE_CHARS),
            ("upload_id", spec.upload_id, MAX_ID_CHARS),
        ):
            if not text or len(text) > most:
                raise UploadRefusedError(f"{label} must have 1 to {most} characters")
            if not is_text(text):
                raise UploadRefusedError(f"{label} holds half a character (a lone surrogate)")
        if spec.size < 1:
            raise UploadRefusedError("size must be at least 1 byte: an empty file is none")
        check_file_size(spec.size, self._settings)


def check_file_size(size: int, settings: UploadSettings) -> None:
    """Raise ``UploadLimitError`` when a file of *size* bytes is too large."""
    limit = settings.max_file_bytes
    if size > limit:
        found = "the file is too large"
        raise UploadLimitError(found, f"{size_words(limit)} a file", "max_upload")


def size_words(size: int) -> str:
    """Return a number of bytes as people say it: ``256 MiB``."""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.4g} {unit}"
    return f"{size} bytes"


def is_text(text: str) -> bool:
    """Return whether *text* can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _charge(spec: UploadSpec) -> int:
    return max(spec.size, LEAST_CHARGE)
