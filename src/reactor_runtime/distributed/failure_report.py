"""An exception as it crosses from a rank to the group, and back into an exception there."""

import io
import os
import pickle
import traceback
from pathlib import Path
from types import TracebackType

from reactor_runtime.author_text import text_of
from reactor_runtime.distributed.messages import Failure
from reactor_runtime.distributed.parcel import Unpickler
from reactor_runtime.errors import ForeignExceptionError, WorkerError
from reactor_runtime.exception_chain import exception_chain

_MOST_TEXT = 64_000  # characters of a traceback; the end of it is kept
_OURS = f"{Path(__file__).parents[1]}{os.sep}"
_COLLECTIVE_WORDS = ("gloo", "nccl", "connection closed by peer", "connection reset by peer")


def describe_failure(error: BaseException, phase: str) -> Failure:
    """Return *error*, raised in *phase*, as a message."""
    pickled, left_behind = _pickled(error)
    return Failure(
        phase=phase,
        kind=type(error).__name__,
        message=text_of(error),
        traceback=_end_of(_told(error)),
        pickled=pickled,
        left_behind=left_behind,
        is_collective=_is_collective(error),
    )


def worker_error(rank: int, failure: Failure, phase: str) -> WorkerError:
    """Return the group's error for *failure* of *rank*, the original as its cause."""
    error = WorkerError(rank, phase, failure.kind, failure.message, failure.traceback)
    error.add_note(f"on rank {rank}: {failure.traceback.rstrip()}")
    error.__cause__ = original_of(failure)
    return error


def original_of(failure: Failure) -> BaseException:
    """Return the exception itself, or one that says why it is not here."""
    reason = failure.left_behind
    if failure.pickled is not None:
        try:
            found = Unpickler(io.BytesIO(failure.pickled)).load()
        except BaseException as error:  # noqa: BLE001 - a foreign class may do anything when it is made
            reason = f"{type(error).__name__}: {text_of(error)}"
        else:
            if isinstance(found, BaseException):
                return found
            reason = "it was pickled as something else"
    return ForeignExceptionError(failure.kind, failure.message, reason)


def _told(error: BaseException) -> str:
    """Return the traceback of *error*, less the frames of ours that the author's code was under."""
    chain = list(exception_chain(error))
    traces = [_of_author(each.__traceback__) for each in chain]
    if any(traces):
        for each, trace in zip(chain, traces, strict=True):
            each.__traceback__ = trace
    return "".join(traceback.format_exception(error))


def _of_author(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and _is_ours(trace):
        trace = trace.tb_next
    return trace


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_OURS)


def _pickled(error: BaseException) -> tuple[bytes | None, str]:
    """Return *error* pickled, or why it cannot be: some errors pickle and do not come back."""
    try:
        pickled = pickle.dumps(error)
        again = pickle.loads(pickled)
    except BaseException as problem:  # noqa: BLE001 - author code, in both directions
        return None, f"{type(problem).__name__}: {text_of(problem)[:200]}"
    if type(again) is not type(error):
        return None, f"it came back as {type(again).__name__}"
    return pickled, ""


def _is_collective(error: BaseException) -> bool:
    """Whether a collective raised it, or it was raised while one's error was handled."""
    return any(map(_is_of_collective, exception_chain(error)))


def _is_of_collective(error: BaseException) -> bool:
    if type(error).__name__ in ("DistBackendError", "DistNetworkError", "DistError"):
        return True
    if not isinstance(error, RuntimeError):
        return False
    text = text_of(error).lower()
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    inside = any("/torch/distributed/" in file for file in files)
    return inside or any(word in text for word in _COLLECTIVE_WORDS)


def _end_of(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else "…" + text[-_MOST_TEXT:]
