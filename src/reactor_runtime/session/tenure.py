"""Tenure: one session, from its start to the host's word that it is over."""

import asyncio
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self
from uuid import uuid4

from reactor_runtime.host.events import SessionStarted
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.session.request_bodies import StartBody
from reactor_runtime.session.starting_input import StartingCall, StartingInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenure:
    """One session, from its start to the host's word that it is over.

    Attributes:
        session_id: Its own id, for the host and the logs; never sent to clients.
        seed: What its random generators are seeded with.
        steps: How many steps it is to have; ``None`` for as many as come.
        starting: What is applied before any client is there.
        settled: Set when ``session_started`` has run, or the session has failed.
        vacated: Set when ``session_ended`` has run.
    """

    session_id: str
    seed: int
    steps: int | None = None
    starting: StartingInput = field(default_factory=StartingInput)
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    vacated: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, start: StartBody, calls: Iterable[StartingCall]) -> Self:
        """Return the session that *start* asks for; *calls* are its starting input, checked."""
        seed = start.chosen_seed
        return cls(
            session_id=uuid4().hex,
            seed=secrets.randbits(32) if seed is None else seed,
            steps=start.steps,
            starting=StartingInput(calls),
        )

    def post(self, host: ModelHost) -> None:
        """Have it begin.

        Raises:
            HostClosedError: The host has failed or was stopped.
        """
        host.post(SessionStarted(session_id=self.session_id, seed=self.seed, steps=self.steps))
        self.starting.post(host)

    def describe(self) -> dict[str, Any]:
        """Return what descriptors say of it."""
        said: dict[str, Any] = {"seed": self.seed}
        if self.steps is not None:
            said["steps"] = self.steps
        if len(self.starting):
            said["starting_input"] = {"applied": self.starting.applied}
        return said
