"""Where code is right now: threads, and coroutines, whose awaits no thread's stack shows."""

import asyncio
import gc
import sys
import threading
import traceback
from types import AsyncGeneratorType
from typing import Any

# What a coroutine, a generator and an async generator call their frame, and what they wait for.
_FRAMES = ("cr_frame", "gi_frame", "ag_frame")
_AWAITS = ("cr_await", "gi_yieldfrom", "ag_await")


def thread_stacks() -> dict[str, str]:
    """Return where every thread of the process is right now, by the threads' names."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        names.get(ident, str(ident)): "".join(traceback.format_stack(frame))
        for ident, frame in sys._current_frames().items()
    }


def await_stack(task: "asyncio.Task[Any]", deepest: int | None = None) -> str:
    """Return where *task* waits, outermost call first, as far as Python lets it be followed.

    Of more calls than *deepest*, the outer ones are left out.
    """
    frames, waiting = [], task.get_coro()
    while waiting is not None:
        frame = _first(waiting, _FRAMES)
        if frame is not None:
            code = frame.f_code
            place = (code.co_filename, frame.f_lineno, code.co_qualname)
            frames.append(traceback.FrameSummary(*place))
        waiting = _first(waiting, _AWAITS) if frame is not None else _hidden_generator(waiting)
    shown = traceback.format_list(frames[-(deepest or 0) :])
    return f"{task.get_name()} waits at\n{''.join(shown)}"


def _first(thing: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        if (value := getattr(thing, name, None)) is not None:
            return value
    return None


def _hidden_generator(waiting: Any) -> Any:
    """Return the async generator that ``anext()`` waits for, which only the collector can tell."""
    referents = gc.get_referents(waiting)
    return next((each for each in referents if isinstance(each, AsyncGeneratorType)), None)
