"""Serve a model: settings, the port, and how it ends. ``live_server`` does what is in between.

``python -m reactor_runtime.serve`` serves the manifest in the current folder. The port is taken
first; the author's module is imported on a thread and loads on another, while ``/health`` says
``loading``.

How it ends is the exit status (``exit_status.py``). When told to stop, it tells the clients, runs
the session's last hook, lets the model go, and is gone within ``stop_grace``; a second signal ends
it on the spot.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # ``python -m`` puts the current folder first, where a file of the author's would hide a module
    # of the standard library from everything imported below.
    sys.path.append(sys.path.pop(0))

import asyncio
import contextlib
import gc
import os
import threading
import time
from collections.abc import Mapping
from typing import NoReturn, TextIO

from reactor_runtime.announcements import print_error
from reactor_runtime.busy_threads import busy_threads
from reactor_runtime.errors import AddressError, ConfigurationError, SettingError
from reactor_runtime.exit_status import ExitStatus
from reactor_runtime.listening_socket import keep_from_forks, open_sockets
from reactor_runtime.log import configure, get_logger
from reactor_runtime.setting_table import misspelt_variables
from reactor_runtime.settings import ServeSettings, manifest_doubts, resolve_settings
from reactor_runtime.stop_signals import StopSignals

SWITCH_INTERVAL_S = 0.0005  # a model's thread lets the event loop in ten times sooner
LEAVE_WITHIN_S = 2.0

# Names under which the settings are known elsewhere; ours, beginning with REACTOR_, win.
_PLAIN_VARIABLES = {
    "HOST": "REACTOR_HOST",
    "PORT": "REACTOR_PORT",
    "STUN_SERVERS": "REACTOR_STUN",
    "TURN_SERVERS": "REACTOR_TURN",
}


def main() -> NoReturn:
    """Serve the manifest in the current folder and end the process.

    Raises:
        SettingError: It is not called on the main thread: most likely by the very module that is
            being imported to be served.
    """
    if threading.current_thread() is not threading.main_thread():
        found = "a call from a module that is itself being served"
        raise SettingError("serve.main()", found, "it under `if __name__ == '__main__':`")
    try:
        settings = resolve_settings(".", environ=with_plain_variables(os.environ)).settings
    except ConfigurationError as error:
        print_error(error)
        leave(ExitStatus.WRONG_SETTINGS)
    leave(run(settings))


def run(settings: ServeSettings) -> ExitStatus:
    """Serve until stopped; returns why it ended. Call it on the main thread."""
    configure(settings.log_format, settings.log_level)
    for name, meant in misspelt_variables(os.environ):
        get_logger(__name__).warning("unknown_variable", name=name, meant=meant)
    for doubt in manifest_doubts(settings, os.environ):
        get_logger(__name__).warning("check_the_manifest", doubt=doubt)
    try:
        sockets = open_sockets(settings.host, settings.port)
    except ConfigurationError as error:
        print_error(error)
        return ExitStatus.WRONG_SETTINGS
    except AddressError as error:
        print_error(error)
        return ExitStatus.NO_ADDRESS
    keep_from_forks(sockets)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    late = f"reactor: the model did not let go within {settings.stop_grace_s:g} s"
    with StopSignals(settings.stop_grace_s, ExitStatus.STUCK, late) as stop:
        gc.disable()  # imports make no garbage worth looking for: a tenth of the time to start
        from reactor_runtime.live_server import serve

        return asyncio.run(serve(settings, sockets, stop))


def with_plain_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """Return *environ* with the plain names of some settings read as ours."""
    known = {
        ours: environ[plain]
        for plain, ours in _PLAIN_VARIABLES.items()
        if environ.get(plain, "").strip()
    }
    return {**known, **environ}


def leave(status: ExitStatus) -> NoReturn:
    """End the process with *status*.

    A thread of ours that still runs is stuck in the author's code, which cannot be ended; tearing
    the interpreter down around it may crash. Otherwise what libraries do at exit gets two seconds.
    """
    for stream in (sys.stdout, sys.stderr):
        _flush(stream)
    if busy_threads():
        os._exit(status)
    threading.Thread(target=_end_late, args=(status,), daemon=True).start()
    sys.exit(status)


def _flush(stream: TextIO | None) -> None:
    """Write out what *stream* holds; what nobody reads any more is dropped, here and at exit."""
    if stream is None or stream.closed:  # an author may do that
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _end_late(status: int) -> None:
    time.sleep(LEAVE_WITHIN_S)
    os._exit(status)


if __name__ == "__main__":
    main()
