"""Script: what happens in an offline run, turn by turn; the same on every rank."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from reactor_runtime.errors import OfflineRunError
from reactor_runtime.host.events import ClientJoined, CommandCalled, ModelEvent, SessionStarted
from reactor_runtime.model.contract import ModelContract

Command = tuple[int, str, Mapping[str, Any]]
CLIENT = "offline"
_SESSION = "offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """Every event of the run.

    Attributes:
        turns: How many turns there are.
        seed: The session's.
        calls: The commands before each turn that has some, in their order.
    """

    turns: int
    seed: int
    calls: Mapping[int, tuple[CommandCalled, ...]]

    @classmethod
    def make(
        cls, contract: ModelContract, turns: int, commands: Iterable[Command], seed: int
    ) -> Self:
        """Return the script, its commands normalised and validated as those of clients are.

        Raises:
            OfflineRunError: A command is none of the model's, or its turn none of the run's.
            PayloadError: Its arguments do not fit.
        """
        if turns < 1:
            raise OfflineRunError(None, f"{turns} turns; wanted at least 1")
        calls: dict[int, tuple[CommandCalled, ...]] = {}
        for number, (turn, name, arguments) in enumerate(commands, start=1):
            call = _call(contract, number, name, arguments)
            if not 0 <= turn < turns:
                reason = f"the command {name} is for turn {turn}; there are turns 0 to {turns - 1}"
                raise OfflineRunError(None, reason)
            calls[turn] = (*calls.get(turn, ()), call)
        return cls(turns=turns, seed=seed, calls=calls)

    @property
    def opening(self) -> tuple[ModelEvent, ...]:
        """What comes before the first turn."""
        return (
            SessionStarted(session_id=_SESSION, seed=self.seed),
            ClientJoined(client_id=CLIENT, joined_at=0.0),
        )

    @property
    def digest(self) -> str:
        """What tells it from every other script."""
        told = (self.turns, self.seed, sorted(self.calls.items()))
        return hashlib.sha256(repr(told).encode()).hexdigest()


def _call(
    contract: ModelContract, number: int, name: str, arguments: Mapping[str, Any]
) -> CommandCalled:
    # Here and not above: it loads pydantic, which a model that is given no commands may do without.
    from reactor_runtime.model.payload import bind

    command = contract.commands.get(name)
    if command is None:
        known = ", ".join(contract.commands) or "none"
        raise OfflineRunError(None, f"there is no command {name}; the model has {known}")
    return CommandCalled(
        call_id=number, client_id=CLIENT, name=name, arguments=bind(command, arguments, {})
    )
