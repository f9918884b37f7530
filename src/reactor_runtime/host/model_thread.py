"""ModelThread: one daemon thread with an asyncio loop of its own."""

import asyncio
import selectors
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress

from reactor_runtime.host.author_loop import AuthorLoop
from reactor_runtime.host.host_thread import HostThread
from reactor_runtime.loop_calls import call_soon
from reactor_runtime.stacks import await_stack


class ModelThread:
    """Runs a function to its end, away from the loop that started it.

    A thread cannot be killed: one that is stuck in author code is given up, and dies with the
    process.
    """

    def __init__(self, name: str) -> None:
        self._thread = HostThread(name)
        self._loop: AuthorLoop | None = None

    @property
    def name(self) -> str:
        """The thread's name."""
        return self._thread.name

    def start(
        self,
        main: Callable[[AuthorLoop], None],
        on_end: Callable[[BaseException | None], None],
    ) -> None:
        """Run *main* on the thread with its loop; *on_end* hears, there, how it ended."""
        self._thread.start(lambda: self._run(main, on_end))

    def call(self, callback: Callable[[], object]) -> None:
        """Call *callback* on the thread's loop soon, from any thread; never once it has ended."""
        if self._loop is not None:
            call_soon(self._loop.loop, callback)

    def cancel(self) -> None:
        """Cancel what runs, from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.cancel()

    def stack(self) -> str:
        """Return where it is right now: in the author's code, or what its tasks wait for.

        Empty when it has ended, or not begun.
        """
        ident = self._thread.ident
        frame = sys._current_frames().get(ident) if ident is not None else None
        if frame is None:
            return ""
        if self._loop is not None and frame.f_code.co_filename == selectors.__file__:
            tasks = asyncio.all_tasks(self._loop.loop)
            return "".join(sorted(await_stack(task) for task in tasks))
        return "".join(traceback.format_stack(frame))

    async def join(self, timeout_s: float) -> bool:
        """Wait for the end; ``False`` when it did not come within *timeout_s* seconds."""
        return await self._thread.join(timeout_s)

    def _run(
        self,
        main: Callable[[AuthorLoop], None],
        on_end: Callable[[BaseException | None], None],
    ) -> None:
        error: BaseException | None = None
        try:
            with asyncio.Runner() as runner:
                self._loop = AuthorLoop(runner.get_loop())
                main(self._loop)
        except asyncio.CancelledError as raised:
            error = None if self._loop is not None and self._loop.is_cancelled else raised
        except BaseException as raised:  # noqa: BLE001 - the top of a thread
            error = raised
        finally:
            on_end(error)
