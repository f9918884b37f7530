"""Outcome: what applying one event came to, alike on every rank."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.events import CommandCalled
from reactor_runtime.host.host_outlet import CommandReply, HostOutlet


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How author code took an event.

    Attributes:
        message_name: Wire name of the message a command's handler returned, if it did.
        message_body: Its fields.
        error_code: What a failed command is answered with.
        error_message: What the caller is told; never an exception's own text.
        raised: The exception, where author code raised anything but a ``CommandError``.
    """

    message_name: str | None = None
    message_body: Mapping[str, Any] | None = None
    error_code: str | None = None
    error_message: str = ""
    raised: BaseException | None = None


APPLIED = Outcome()
OVERTAKEN = Outcome(
    error_code="session_ended", error_message="the session ended before the command was answered"
)


def reply_to(call: CommandCalled, outcome: Outcome) -> CommandReply:
    """Return the answer to *call*."""
    return CommandReply(
        call_id=call.call_id,
        client_id=call.client_id,
        message_name=outcome.message_name,
        message_body=outcome.message_body,
        error_code=outcome.error_code,
        error_message=outcome.error_message,
    )


def overtake(queue: EventQueue, outlet: HostOutlet, reason: str) -> None:
    """Close *queue* and answer every command that nobody has answered."""
    for call in queue.close(reason):
        outlet.reply(reply_to(call, OVERTAKEN))
