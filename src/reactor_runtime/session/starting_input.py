"""StartingInput: the state and commands that a start wants applied before anybody is here."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reactor_runtime.errors import PayloadError, StartRefusedError
from reactor_runtime.host.events import CommandCalled
from reactor_runtime.host.host_outlet import CommandReply
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.session.request_bodies import StartingInputBody

STARTER = "start"  # who calls; no client is called that
_KEY = "starting_input"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartingCall:
    """One call of it, checked.

    Attributes:
        entry: Where it stands in the start body.
        name: The command's wire name.
        arguments: What its handler gets.
    """

    entry: str
    name: str
    arguments: Mapping[str, Any]


def read_calls(body: StartingInputBody | None, contract: ModelContract) -> tuple[StartingCall, ...]:
    """Return the calls that *body* asks for: state first, by name, then the commands in order.

    Raises:
        StartRefusedError: Naming the entry that the model cannot take.
    """
    if body is None:
        return ()
    wanted = [
        (f"{_KEY}.state.{field}", f"set_{field}", {field: value})
        for field, value in sorted(body.state.items())
    ]
    wanted += [
        (f"{_KEY}.commands[{number}]", each.command, each.data)
        for number, each in enumerate(body.commands)
    ]
    return tuple(_checked(entry, name, payload, contract) for entry, name, payload in wanted)


def _checked(
    entry: str, name: str, payload: Mapping[str, Any], contract: ModelContract
) -> StartingCall:
    if entry.startswith(f"{_KEY}.state.") and name not in contract.commands:
        raise StartRefusedError(entry[:256], "there is no such field")
    try:
        return StartingCall(entry=entry, name=name, arguments=contract.bind(name, payload))
    except PayloadError as error:
        raise StartRefusedError(entry[:256], str(error)) from None


class StartingInput:
    """The calls of one start, on their way to the host and back.

    Their numbers are negative: those of clients' calls count up from 1.

    Args:
        calls: What to call, in order.

    Attributes:
        applied: How many have been applied.
        refusal: What was refused: the entry, the code and the text of the first one; else ``None``.
        settled: Set when all have been applied, or one was refused.
    """

    def __init__(self, calls: Iterable[StartingCall] = ()) -> None:
        self.applied = 0
        self.refusal: tuple[str, str, str] | None = None
        self.settled = asyncio.Event()
        self._waiting = {-number: call for number, call in enumerate(calls, 1)}
        self._count = len(self._waiting)
        if not self._waiting:
            self.settled.set()

    def __len__(self) -> int:
        return self._count

    def post(self, host: ModelHost) -> None:
        """Have everything called.

        Raises:
            HostClosedError: The host has failed or was stopped.
        """
        for call_id, call in self._waiting.items():
            host.post(
                CommandCalled(
                    call_id=call_id,
                    client_id=STARTER,
                    name=call.name,
                    arguments=call.arguments,
                )
            )

    def replied(self, reply: CommandReply, host: ModelHost) -> None:
        """Take the host's answer to one; after a refusal the rest is not called any more."""
        call = self._waiting.pop(reply.call_id, None)
        if call is None or self.settled.is_set():
            return
        if reply.error_code is not None:
            self.refusal = (call.entry, reply.error_code, reply.error_message)
            for call_id in self._waiting:
                host.withdraw(call_id)
        else:
            self.applied += 1
        if self.refusal is not None or not self._waiting:
            self.settled.set()
