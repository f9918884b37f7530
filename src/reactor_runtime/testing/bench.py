"""Bench: one model under test and everything around it, on one event loop.

What ``serve`` joins, less the network, the encoders and the machine's clock: the real host, the
real session, the real pacer.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from reactor_runtime.errors import ModelFailedError, SessionUnavailableError, WaitTimeoutError
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.settings import ServeSettings
from reactor_runtime.testing.bench_parts import BenchParts
from reactor_runtime.testing.bench_report import describe
from reactor_runtime.testing.client_connection import ClientConnection
from reactor_runtime.testing.log_capture import LogCapture
from reactor_runtime.testing.time_flow import TimeFlow
from reactor_runtime.testing.viewers import Viewers

T = TypeVar("T")

_MOMENT_S = 0.5


class Bench:
    """Drives a model and its fake clients. Made and used on one event loop.

    Args:
        model_class: The author's class.
        settings: How it is served.
        timeout_s: Seconds every wait has unless it names others.
        log: What is logged meanwhile.

    Attributes:
        parts: What it is made of.
        viewers: Every client that ever connected.

    Raises:
        TypeError: The class declares something that cannot be.
        WorkerGroupRefusedError: The ranks cannot be started like that.
    """

    def __init__(
        self, model_class: type[Any], settings: ServeSettings, timeout_s: float, log: LogCapture
    ) -> None:
        self.parts = parts = BenchParts.make(model_class, settings, timeout_s)
        self.timeout_s, self.log = timeout_s, log
        self._failures_seen = 0
        self.viewers = Viewers(parts)
        self._flow = TimeFlow(parts, self.viewers)
        parts.session.on_terminated = lambda reason: parts.news.tell()

    # --- life ---

    async def load(self, timeout_s: float) -> None:
        """Load the model.

        Raises:
            ModelFailedError: It failed; the author's exception is the cause.
            WaitTimeoutError: It took longer than *timeout_s*.
        """
        await self.parts.session.start()
        await self.wait("loaded model", self._is_loaded, timeout_s, answers_only=True)

    async def close(self) -> None:
        """End the session, the host and every client."""
        await self.parts.session.close()

    async def start_session(self, body: Mapping[str, Any]) -> None:
        """Start a session; returns when ``session_started`` has run.

        Raises:
            ReactorError: It cannot be; what an author's hook raised is the cause.
        """
        stream, clock = self.parts.stream, self.parts.clock
        if not self.parts.session.state.is_running:
            stream.began = clock.now()
        try:
            await self.parts.session.start_session(body)
        except SessionUnavailableError as error:
            raise error from self.log.error if self.take_failure() else None

    async def end_session(self, reason: str) -> None:
        """End the session; returns when ``session_ended`` has run."""
        await self.parts.session.stop_session(reason)
        await self.until_closed()

    async def until_closed(self) -> None:
        """Wait for a session that is ending.

        Raises:
            WaitTimeoutError: It does not end.
        """
        session = self.parts.session
        await self.wait(
            "end of the session",
            lambda: session.state is not SessionState.CLOSING or None,
            answers_only=True,
        )

    async def settle(self) -> None:
        """Wait, for a moment at most, until a step that has shown its frames is over."""
        turn, news = self.parts.turn, self.parts.news
        with suppress(TimeoutError):
            async with asyncio.timeout(_MOMENT_S):
                while turn.is_stepping and turn.wants_at is None:
                    news.clear()
                    await news.within(_MOMENT_S)

    # --- clients ---

    async def connect(self, name: str | None, seed: int) -> ClientConnection:
        """Let a client in; a session is started for it if none runs.

        Raises:
            ReactorError: It cannot be.
        """
        await self.until_closed()
        if not self.parts.session.state.is_running:
            await self.start_session({"seed": seed})
        return self.viewers.let_in(name)

    # --- waiting ---

    async def wait(
        self,
        waited_for: str,
        found: Callable[[], T | None],
        timeout_s: float | None = None,
        *,
        answers_only: bool = False,
        end_s: float | None = None,
    ) -> T:
        """Return what *found* returns once it does, letting time pass as the model needs it.

        Args:
            waited_for: What that is, in words.
            found: Asked whenever something has happened.
            timeout_s: Seconds of the machine's time.
            answers_only: Let no step begin: what is waited for needs none.
            end_s: The time of the model that *found* waits for, if it does.

        Raises:
            WaitTimeoutError: It did not come.
        """
        limit_s = self.timeout_s if timeout_s is None else timeout_s
        try:
            async with asyncio.timeout(limit_s):
                if answers_only:
                    return await self._flow.until_answered(found)
                return await self._flow.until(found, end_s)
        except TimeoutError:
            stacks = await asyncio.to_thread(self.parts.host.stacks)
        raise WaitTimeoutError(waited_for, limit_s, self.describe(stacks))

    async def advance(self, seconds: float) -> None:
        """Let *seconds* of the model's time pass.

        Raises:
            WaitTimeoutError: The model is stuck.
        """
        end_s = self.parts.clock.now() + seconds
        await self.wait(
            f"end of the next {seconds:g} s of the model's time",
            lambda: self.parts.clock.now() >= end_s or None,
            end_s=end_s,
        )

    def describe(self, stacks: Mapping[str, str] | None = None) -> str:
        """Return what has been seen so far, for an error."""
        return describe(self.parts, self.viewers.clients, self.log, stacks or {})

    def take_failure(self) -> str | None:
        """Return why the model failed last, if no test has been told; now it has."""
        failures = self.parts.outlet.failures
        unseen, self._failures_seen = failures[self._failures_seen :], len(failures)
        return unseen[-1].message if unseen else None

    # --- parts of the above ---

    def _is_loaded(self) -> bool | None:
        session = self.parts.session
        if session.state is SessionState.TERMINATED:
            error = ModelFailedError(session.health().detail, self.describe())
            raise error from self.log.error
        return session.state is SessionState.READY or None
