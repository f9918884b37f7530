"""Where an author's code gave something away that is refused only after it has let go."""

from typing import Any

_FRAMES = ("gi_frame", "ag_frame")


def note_place(error: BaseException, giver: Any) -> None:
    """Note in *error* where *giver*, a generator that yielded or a method that returned, did so.

    Of a method that has returned no line is known but its first.
    """
    while (inner := getattr(giver, "gi_yieldfrom", None)) is not None and _frame(inner):
        giver = inner
    frame = _frame(giver)
    code = frame.f_code if frame else getattr(giver, "__code__", None)
    if code is None:
        return
    line = frame.f_lineno if frame else code.co_firstlineno
    error.add_note(f'What it gave:\n  File "{code.co_filename}", line {line}, in {code.co_name}')


def _frame(giver: Any) -> Any:
    return next((frame for name in _FRAMES if (frame := getattr(giver, name, None))), None)
