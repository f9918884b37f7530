"""What torchrun starts for every rank: ties it to torchrun, then runs the user's script as main.

A program: ``python -m …rank_entry SCRIPT ARGS…`` or ``… module:NAME ARGS…``. An exception of the
script is written to ``TORCHELASTIC_ERROR_FILE`` with its type and exit code, and ends the rank.
"""

import atexit
import contextlib
import json
import os
import runpy
import sys
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import NoReturn

from reactor_runtime.launcher.collective_bounds import bound_collectives
from reactor_runtime.tether import die_with_parent, leave_if_adopted_by

_MODULE = "module:"
TIDY_S = 2.0
_MACHINERY = {__file__, "<frozen runpy>"}


def main() -> None:
    """Run the script behind this program's name."""
    die_with_parent()
    leave_if_adopted_by(int(os.environ.get("REACTOR_KEEPER_PID", "0")))
    bound_collectives(float(os.environ.get("REACTOR_COMM_TIMEOUT_S", "0")))
    entrypoint = sys.argv[1]
    try:
        run_as_main(entrypoint, sys.argv[2:])
    except SystemExit as error:
        if error.code in (None, 0):
            raise
        error.__traceback__ = _from_the_script(error)
        code = error.code if isinstance(error.code, int) else 1
        _write_report(error, code)
        if code != error.code:
            sys.stderr.write(f"{error.code}\n")
        leave(code)
    except BaseException as error:  # noqa: BLE001 - the top of a process
        error.__traceback__ = _from_the_script(error)
        _write_report(error, 1)
        sys.excepthook(type(error), error, error.__traceback__)
        leave(1)


def leave(code: int) -> NoReturn:
    """End this process soon: a rank that has failed must not keep the others.

    What was registered with ``atexit`` runs, for a short time; a thread that still waits for a
    peer, and the slow dismantling of a large program, are not waited for.
    """
    tidying = threading.Thread(target=atexit._run_exitfuncs, daemon=True)
    tidying.start()
    tidying.join(TIDY_S)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code & 0xFF)


def run_as_main(entrypoint: str, arguments: list[str]) -> None:
    """Run a script, or ``module:NAME``, as ``__main__`` with its own ``sys.argv``."""
    if entrypoint.startswith(_MODULE):
        module = entrypoint.removeprefix(_MODULE)
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return
    script = str(Path(entrypoint).resolve())
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")


def _write_report(error: BaseException, exit_code: int) -> None:
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path:
        return
    now = time.time()
    text = "".join(traceback.format_exception(error))
    report = {
        "message": {
            "message": f"{type(error).__name__}: {error}",
            "extraInfo": {
                "py_callstack": text[-16000:],
                "timestamp": str(int(now)),  # torchrun's own field, which it reads as an int
                "time_s": now,
                "exit_code": exit_code,
            },
        }
    }
    with contextlib.suppress(OSError):
        Path(path).write_text(json.dumps(report), encoding="utf-8")


def _from_the_script(error: BaseException) -> TracebackType | None:
    """Return the traceback without what lies between this program and the script."""
    rest = error.__traceback__
    while rest is not None and rest.tb_frame.f_code.co_filename in _MACHINERY:
        rest = rest.tb_next
    return rest or error.__traceback__


if __name__ == "__main__":
    main()
