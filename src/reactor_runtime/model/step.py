"""What one step came to: the outcome of ``generate``, and the report of the whole step."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from reactor_runtime.model.idle import _IdleType
from reactor_runtime.model.output import Output

RESERVED_FILES = frozenset({"result.json", "output.mp4"})


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What ``generate`` returned or raised, handed to ``process_output``.

    Attributes:
        result: What it returned; ``None`` when it raised.
        error: What it raised.
        elapsed: Seconds it took.
    """

    result: Any = None
    error: Exception | None = None
    elapsed: float = 0.0

    def to_output(self) -> Any:
        """Return the result to be shown, ``None`` where there is none; raise the error, if any."""
        if self.error is not None:
            raise self.error
        return None if isinstance(self.result, _IdleType) else self.result


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """The report of one finished step.

    Attributes:
        output: What it shows, if anything.
        files: Name to content; kept with the step's result. A name is one path segment.
        error: What went wrong, where the author wants it on record without ending the session.
        elapsed: Seconds it took; ``None`` lets the host's measure stand.

    Raises:
        ValueError: A file's name is not one path segment, or is taken.
        TypeError: *output* is no ``Output``, or a file's content is not bytes.
    """

    output: Output | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    error: BaseException | str | None = None
    elapsed: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.output, _IdleType):
            object.__setattr__(self, "output", None)
        if self.output is not None and not isinstance(self.output, Output):
            raise TypeError(
                f"a step shows an Output, None or Idle, not {type(self.output).__name__}; declare "
                "a class of Output with its tracks (`main_video: Video`) and show one of those"
            )
        if self.files:
            for name, content in self.files.items():
                _check_file(name, content)

    @classmethod
    def of(cls, result: Any, elapsed: float | None = None) -> Self:
        """Return *result* as a report: itself, or one that shows it.

        Raises:
            TypeError: It is no ``Output``, ``StepCompleted``, ``None`` or ``Idle``.
        """
        return result if isinstance(result, cls) else cls(output=result, elapsed=elapsed)


def together(before: StepCompleted, after: StepCompleted) -> StepCompleted:
    """Return what two reports of one step come to: the files of both, the last error.

    Raises:
        ValueError: Both have a file of the same name.
    """
    for name in after.files:
        if name in before.files:
            raise ValueError(
                f"this step has a file {name!r} already: a turn is one step, and all that is "
                "reported in it is kept together"
            )
    return replace(
        after,
        output=before.output if after.output is None else after.output,
        files={**before.files, **after.files},
        error=before.error if after.error is None else after.error,
        elapsed=before.elapsed if after.elapsed is None else after.elapsed,
    )


def _check_file(name: str, content: object) -> None:
    if not isinstance(name, str) or name in {"", ".", ".."} or set(name) & {"/", "\\", "\0"}:
        raise ValueError(f"a file of a step is named by one path segment, not {name!r}")
    if name in RESERVED_FILES:
        raise ValueError(f"the file name {name!r} is taken by the step's own result")
    if not isinstance(content, bytes | bytearray | memoryview):
        raise TypeError(f"file {name!r} must be bytes, not {type(content).__name__}")
