"""Vacancy: whether a start may have the session, or somebody is really using it.

Nothing is recycled by timer before the orphan time-out. But a start that finds the session occupied
asks: connections that have been silent are probed, and if nobody answers the session is taken over.
One whose client answers, however slowly its network moves, is never ended.
"""

import asyncio
from collections.abc import Iterable

from reactor_runtime.errors import (
    ConnectionClosedError,
    SessionStateError,
    SessionUnavailableError,
)
from reactor_runtime.log import get_logger
from reactor_runtime.session.audience import Audience
from reactor_runtime.session.client import Client
from reactor_runtime.session.descriptor import SESSION_ID
from reactor_runtime.session.farewells import farewell
from reactor_runtime.session.session_course import SessionCourse
from reactor_runtime.session.session_state import EndReason, SessionState
from reactor_runtime.session.tenancy import Tenancy
from reactor_runtime.session.wiring import Wiring

log = get_logger(__name__)

_GRACE_S = 0.1  # for a probe to end by itself


class Vacancy:
    """Makes room for a start, or says why there is none.

    Args:
        tenancy: Ends what nobody uses.
        audience: Who is here.
        course: Where the session is.
        wiring: Limits, time, figures and tasks.

    Attributes:
        turn: Held by the one start that is being looked at.
    """

    def __init__(
        self, tenancy: Tenancy, audience: Audience, course: SessionCourse, wiring: Wiring
    ) -> None:
        self.turn = asyncio.Lock()
        self._tenancy, self._audience = tenancy, audience
        self._course, self._wiring = course, wiring

    async def make_room(self) -> None:
        """Return when a session can be started.

        Raises:
            SessionStateError: Somebody uses the session, or it is still being cleared away.
            SessionUnavailableError: The model is loading, or gone.
        """
        self.check_available()
        if self._course.state.is_running:
            is_free = await self._is_abandoned() or not self._course.state.is_running
            if not is_free:
                text = (
                    "a session is running: stop it first, or join it with "
                    f'connect(session_id="{SESSION_ID}")'
                )
                raise SessionStateError(self._course.state, text)
            self._take_over()
        if not await self._course.reach(SessionState.READY, self._wiring.settings.start_wait_s):
            self.check_available()
            text = "the last session is still closing; try again soon"
            raise SessionStateError(self._course.state, text)

    def check_available(self) -> None:
        """Raise ``SessionUnavailableError`` while the model is loading, and when it is gone."""
        if self._course.state is SessionState.CREATED:
            raise SessionUnavailableError("the model is loading", 1)
        if self._course.state is SessionState.TERMINATED:
            why = self._tenancy.last_words or "it has ended"
            raise SessionUnavailableError(f"the model is gone: {why}")

    async def _is_abandoned(self) -> bool:
        state = self._course.state
        if state is SessionState.ORPHANED:
            return True
        if state is SessionState.WAITING:
            return self._course.age_s > self._wiring.settings.connect_limit_s
        probed = tuple(self._audience.clients)
        began = self._wiring.clock.now()
        if _have_spoken(probed, self._wiring.settings.probe_after_s):
            return False
        if await self._answers(probed):
            return False
        # A session may have gained a client meanwhile, or ended.
        now_here = tuple(self._audience.clients)
        waited_s = self._wiring.clock.now() - began
        return set(now_here) <= set(probed) and not _have_spoken(now_here, waited_s)

    async def _answers(self, clients: Iterable[Client]) -> bool:
        """Whether any of *clients* gives a sign of life; the first one settles it."""
        probes = [self._wiring.tasks.spawn(self._probe(client), "probe") for client in clients]
        try:
            for probe in asyncio.as_completed(probes):
                if await probe:
                    return True
            return False
        finally:
            for task in probes:
                task.cancel()

    async def _probe(self, client: Client) -> bool:
        timeout_s = self._wiring.settings.probe_timeout_s
        try:
            async with asyncio.timeout(timeout_s + _GRACE_S):
                return await client.connection.probe(timeout_s)
        except (TimeoutError, ConnectionError, ConnectionClosedError):
            return False

    def _take_over(self) -> None:
        for notice in farewell(EndReason.TIMED_OUT):  # one may only have slept
            self._audience.clients.broadcast(notice)
        for client in self._audience.clients:
            client.guess_version()
            self._audience.drop(client, "no sign of life")
        if self._course.state.is_running:
            log.info("session_taken_over", state=self._course.state.value)
            self._tenancy.end(EndReason.TIMED_OUT)


def _have_spoken(clients: Iterable[Client], lately_s: float) -> bool:
    """Return whether anything of any of *clients* has arrived in the last *lately_s* seconds."""
    return any(client.connection.silent_for_s <= lately_s for client in clients)
