"""What ends a call of a worker group, or keeps one from starting."""

import signal
from typing import Any

from reactor_runtime.errors.configuration import ConfigurationError
from reactor_runtime.errors.reactor_error import ReactorError


class WorkerGroupError(ReactorError):
    """Base of what ends a call of a worker group."""


class WorkerError(WorkerGroupError):
    """Raised when a rank reported an exception; the original is the cause, where it survives.

    Attributes:
        rank: Who reported it.
        phase: What the group was doing, such as ``setup`` or ``generate_chunk``.
        kind: Name of the exception's type.
        message: Its text.
        traceback: Its traceback as text.
        ranks: All ranks that raised an exception of this type.
        made: Of a step that raised alike on all ranks, what it had emitted before; else ``None``.
    """

    def __init__(self, rank: int, phase: str, kind: str, message: str, traceback: str = "") -> None:
        super().__init__(rank, phase, kind, message, traceback)
        self.rank, self.phase, self.kind = rank, phase, kind
        self.message, self.traceback = message, traceback
        self.ranks: tuple[int, ...] = (rank,)
        self.made: Any = None

    def __str__(self) -> str:
        text = f": {self.message}" if self.message else ""
        return f"rank {self.rank} raised {self.kind} during {self.phase}{text}"


class WorkerCrashed(WorkerGroupError):  # noqa: N818 - a published name
    """Raised when a rank's process ended without a word; the group is closed.

    Attributes:
        rank: Whose process it was.
        phase: What the group was doing; ``idle`` between calls.
        exit_code: Its exit status, minus the number of the signal that killed it; ``None`` when
            unknown.
        last_words: The end of what it wrote to standard error.
    """

    def __init__(self, rank: int, phase: str, exit_code: int | None, last_words: str = "") -> None:
        super().__init__(rank, phase, exit_code, last_words)
        self.rank, self.phase, self.exit_code = rank, phase, exit_code
        self.last_words = last_words

    def __str__(self) -> str:
        words = f"; its last words:\n{self.last_words}" if self.last_words else ""
        return f"rank {self.rank} died during {self.phase} ({describe_exit(self.exit_code)}){words}"


class WorkerTimeout(WorkerCrashed):
    """Raised when ranks live but do not answer in time; the group is closed.

    Attributes:
        rank: The first silent rank.
        phase: What the group was doing.
        timeout_s: The seconds they had.
        ranks: All silent ranks.
        stacks: For each silent rank what it was doing: its Python stacks, or why there are none.
    """

    def __init__(
        self,
        rank: int,
        phase: str,
        timeout_s: float,
        ranks: tuple[int, ...] = (),
        stacks: tuple[tuple[int, str], ...] = (),
    ) -> None:
        super().__init__(rank, phase, None)
        self.args = (rank, phase, timeout_s, ranks, stacks)
        self.timeout_s, self.ranks, self.stacks = timeout_s, ranks, stacks

    def __str__(self) -> str:
        silent = ", ".join(map(str, self.ranks or (self.rank,)))
        who = f"rank {silent}" if len(self.ranks) < 2 else f"ranks {silent}"
        lines = [f"{who} did not answer {self.phase} within {self.timeout_s:g} s"]
        lines += [f"rank {rank}: {text}" for rank, text in self.stacks]
        return "\n".join(lines)


class RankDesync(WorkerGroupError):  # noqa: N818 - a published name
    """Raised when ranks did not do the same; the group is closed.

    Attributes:
        phase: What the group was doing.
        reason: What differs, in plain words.
        ranks: The ranks that differ from the others.
    """

    def __init__(self, phase: str, reason: str, ranks: tuple[int, ...] = ()) -> None:
        super().__init__(phase, reason, ranks)
        self.phase, self.reason, self.ranks = phase, reason, ranks

    def __str__(self) -> str:
        who = f" (ranks {', '.join(map(str, self.ranks))})" if self.ranks else ""
        return f"the ranks went different ways in {self.phase}: {self.reason}{who}"


class WorkerGroupStateError(WorkerGroupError):
    """Raised when a call does not fit the group's state.

    Attributes:
        call: What was asked for.
        state: The state the group is in.
        advice: What to do.
    """

    def __init__(self, call: str, state: str, advice: str = "") -> None:
        super().__init__(call, state, advice)
        self.call, self.state, self.advice = call, state, advice

    def __str__(self) -> str:
        advice = f": {self.advice}" if self.advice else ""
        return f"{self.call} is not possible, the worker group is {self.state}{advice}"


class FramesHeldError(WorkerGroupError):
    """Raised when readers hold every slot of the shared frame buffer.

    Attributes:
        views: The chunks that are still held, in words.
    """

    def __init__(self, views: tuple[str, ...]) -> None:
        super().__init__(views)
        self.views = views

    def __str__(self) -> str:
        return (
            f"no slot is free for the next chunk: {len(self.views)} are still held "
            f"({'; '.join(self.views)}); let go of the arrays, or copy them"
        )


class MemoryShortError(WorkerGroupError):
    """Raised when shared memory is not to be had; nothing was written to it.

    Attributes:
        needed_bytes: What is wanted.
        free_bytes: What there is.
        cure: What to change.
    """

    def __init__(self, needed_bytes: int, free_bytes: int, cure: str) -> None:
        super().__init__(needed_bytes, free_bytes, cure)
        self.needed_bytes, self.free_bytes, self.cure = needed_bytes, free_bytes, cure

    def __str__(self) -> str:
        return (
            f"{self.needed_bytes} bytes of shared memory are needed and {self.free_bytes} are "
            f"free; {self.cure}"
        )


class ForeignExceptionError(ReactorError):
    """Stands for a rank's exception that cannot be carried to another process.

    Attributes:
        kind: Name of its type.
        message: Its text.
        reason: Why it could not be carried.
    """

    def __init__(self, kind: str, message: str, reason: str) -> None:
        super().__init__(kind, message, reason)
        self.kind, self.message, self.reason = kind, message, reason

    def __str__(self) -> str:
        return f"{self.kind}: {self.message} (the exception itself stayed behind: {self.reason})"


class WorkerGroupRefusedError(ConfigurationError):
    """Raised when a worker group cannot be what it was asked to be; nothing was started.

    Attributes:
        what: What is wrong, with the numbers.
        cure: What to change.
    """

    def __init__(self, what: str, cure: str) -> None:
        super().__init__(what, cure)
        self.what, self.cure = what, cure

    def __str__(self) -> str:
        return f"{self.what}; {self.cure}"


def describe_exit(exit_code: int | None) -> str:
    """Return an exit status in words: ``exit code 3``, ``killed by SIGKILL``."""
    if not isinstance(exit_code, int):
        return "exit code unknown"
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"killed by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"killed by signal {-exit_code}"
