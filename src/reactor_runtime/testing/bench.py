"""Bench: one model under test and everything around it, on one event loop.

What ``serve`` joins, less the network, the encoders and the machine's clock: the real host, the
real session, the real pacer.
"""

import asyncio
import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from reactor_runtime.errors import ModelFailedError, SessionUnavailableError, WaitTimeoutError
from reactor_runtime.session.session_state import SessionState
from reactor_runtime.settings import ServeSettings
from reactor_runtime.testing.bench_parts import BenchParts
from reactor_runtime.testing.bench_report import describe
from reactor_runtime.testing.client_connection import ClientConnection
from reactor_runtime.testing.client_inbox import ClientInbox
from reactor_runtime.testing.log_capture import LogCapture
from reactor_runtime.testing.received import Frame
from reactor_runtime.testing.time_flow import TimeFlow

T = TypeVar("T")

_PING_S = 5.0
_MOMENT_S = 0.5
_FIRST_CONNECTION = 1001


class Bench:
    """Drives a model and its fake clients. Made and used on one event loop.

    Args:
        model_class: The author's class.
        settings: How it is served.
        timeout_s: Seconds every wait has unless it names others.
        log: What is logged meanwhile.

    Attributes:
        parts: What it is made of.
        flow: What moves the clock.
        clients: Every client that ever connected.
        failures_seen: How many failures of the model a test has been told of.

    Raises:
        TypeError: The class declares something that cannot be.
        WorkerGroupRefusedError: The ranks cannot be started like that.
    """

    def __init__(
        self, model_class: type[Any], settings: ServeSettings, timeout_s: float, log: LogCapture
    ) -> None:
        self.parts = parts = BenchParts.make(model_class, settings, timeout_s)
        self.timeout_s, self.log = timeout_s, log
        self.clients: list[ClientConnection] = []
        self.failures_seen = 0
        self.flow = TimeFlow(parts.clock, parts.stream, parts.turn, parts.news, viewers=self)
        self._numbers = itertools.count(_FIRST_CONNECTION)
        self._pinged_at = parts.clock.now()
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

    async def start_session(self, seed: int) -> None:
        """Start a session; returns when ``session_started`` has run.

        Raises:
            ReactorError: It cannot be; what an author's hook raised is the cause.
        """
        stream, clock = self.parts.stream, self.parts.clock
        if not self.parts.session.state.is_running:
            stream.began = clock.now()
        try:
            await self.parts.session.start_session({"seed": seed})
        except SessionUnavailableError as error:
            raise error from self.log.error if self.take_failure() else None

    async def end_session(self, reason: str) -> None:
        """End the session; returns when ``session_ended`` has run."""
        session = self.parts.session
        await session.stop_session(reason)
        over = (SessionState.READY, SessionState.TERMINATED)
        await self.wait(
            "end of the session", lambda: session.state in over or None, answers_only=True
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
        session = self.parts.session
        await self.wait(
            "end of the session before",
            lambda: session.state is not SessionState.CLOSING or None,
            answers_only=True,
        )
        if not session.state.is_running:
            await self.start_session(seed)
        return self._let_in(name)

    @property
    def are_there(self) -> bool:
        """Whether a client is connected."""
        return self.parts.session.state is SessionState.STREAMING

    def deliver(self, frame: Frame) -> None:
        """Show *frame* to every client that plays its track."""
        for client in self.clients:
            client.show_picture(frame)

    def time_moved(self) -> None:
        """Let every client give the sign of life that is due."""
        if self.parts.clock.now() - self._pinged_at >= _PING_S:
            self._pinged_at = self.parts.clock.now()
            for client in self.clients:
                client.ping()

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
                    return await self.flow.until_answered(found)
                return await self.flow.until(found, end_s)
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
        return describe(self.parts, self.clients, self.log, stacks or {})

    def take_failure(self) -> str | None:
        """Return why the model failed last, if no test has been told; now it has."""
        failures = self.parts.outlet.failures
        unseen, self.failures_seen = failures[self.failures_seen :], len(failures)
        return unseen[-1].message if unseen else None

    # --- parts of the above ---

    def _let_in(self, name: str | None) -> ClientConnection:
        session, outputs = self.parts.session, self.parts.stream.tracks
        inbox = ClientInbox(outputs, self.parts.news.tell)
        client = ClientConnection(session, next(self._numbers), inbox, outputs)
        client.client_id = name or client.client_id
        self.clients.append(client)
        client.open()
        client.ping()
        return client

    def _is_loaded(self) -> bool | None:
        session = self.parts.session
        if session.state is SessionState.TERMINATED:
            error = ModelFailedError(session.health().detail, self.describe())
            raise error from self.log.error
        return session.state is SessionState.READY or None
