"""SessionTimers: what time alone does to a session.

Closes clients that have gone silent, ends a session that nobody watches, publishes figures.
"""

import asyncio
from typing import Any

from reactor_runtime.session.audience import Audience
from reactor_runtime.session.descriptor import SESSION_ID
from reactor_runtime.session.session_course import SessionCourse
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_state import EndReason, SessionState
from reactor_runtime.session.tenancy import Tenancy
from reactor_runtime.session.wiring import Wiring


class SessionTimers:
    """Runs beside a session, as three timers.

    Args:
        tenancy: Ends a session that nobody watches.
        audience: Who is here.
        course: Where the session is.
        outlet: Knows the last step and the output media.
        wiring: Delays, time and tasks.
    """

    def __init__(
        self,
        tenancy: Tenancy,
        audience: Audience,
        course: SessionCourse,
        *,
        outlet: SessionOutlet,
        wiring: Wiring,
    ) -> None:
        self._tenancy, self._audience = tenancy, audience
        self._course, self._wiring = course, wiring
        self._outlet = outlet
        self._expiry: asyncio.Task[Any] | None = None

    def start(self) -> None:
        """Start the timers."""
        self._course.watch(self._moved)
        self._wiring.tasks.spawn(self._watch_silence(), "silence_watchdog")
        if self._wiring.settings.stats_interval_s > 0:
            self._wiring.tasks.spawn(self._publish(), "runtime_stats")

    def _moved(self, state: SessionState) -> None:
        expiry, self._expiry = self._expiry, None
        if expiry is not None:
            expiry.cancel()
        if state.is_clientless and self._wiring.settings.clientless_timeout_s > 0:
            self._expiry = self._wiring.tasks.spawn(self._expire(), "clientless_timeout")

    async def _expire(self) -> None:
        await self._sleep(self._wiring.settings.clientless_timeout_s)
        self._expiry = None  # this task: it must not cancel itself by what it sets off
        self._tenancy.end(EndReason.TIMED_OUT)

    async def _watch_silence(self) -> None:
        settings, clock = self._wiring.settings, self._wiring.clock
        while True:
            due = clock.now() + settings.watchdog_interval_s
            await clock.sleep_until(due)
            late_s = clock.now() - due
            for client in self._audience.clients:
                if not client.connection.takes_messages:  # its reports are its only sign of life
                    heard_at = clock.now() - client.connection.silent_for_s
                    client.last_frame_at = max(client.last_frame_at, heard_at)
                # While this loop stood still nobody could be heard: that is not their silence.
                client.last_frame_at += late_s
                if clock.now() - client.last_frame_at > settings.silence_limit_s:
                    self._audience.drop(client, "silent")

    async def _publish(self) -> None:
        while True:
            await self._sleep(self._wiring.settings.stats_interval_s)
            if not self._course.state.is_running:
                continue
            step, stream = self._outlet.last_step, self._outlet.stream
            self._course.note(
                "metric",
                name="runtime_stats",
                session_id=SESSION_ID,
                tracks={} if stream is None else dict(stream.stats()),
                connections=[
                    {
                        "conn_id": client.connection.connection_id,
                        "version": client.version,
                        **client.connection.stats(),
                    }
                    for client in self._audience.clients
                ],
                step=None if step is None else {"number": step.number, "seconds": step.step_s},
            )

    async def _sleep(self, seconds: float) -> None:
        await self._wiring.clock.sleep_until(self._wiring.clock.now() + seconds)
