"""EventInbox: admits or refuses commands, and sees to it that each is answered exactly once.

Rules, per client: at most ``max_pending`` unanswered commands. A new ``set_<field>`` takes the
place of a pending one, which is acknowledged and not run. When the inbox is full the oldest pending
call of the same name is answered ``superseded``; if there is none, the new one is ``overloaded``.
Commands reach the host at a bounded rate; past it they wait here, where the same rules apply, so
that a flood costs neither the event loop nor the model more than its bound. A client that waits for
each answer before it calls again is slowed down by that alone. Admission is O(1).

A command whose files are still on their way keeps its place in the order. What the same client
sends after it waits with it; nobody else does.
"""

import itertools
from collections.abc import Mapping
from typing import Any

from reactor_runtime.host.events import CommandCalled, ModelEvent
from reactor_runtime.host.host_outlet import CommandReply
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.session.call_pump import CallPump
from reactor_runtime.session.call_queue import Call, CallQueue
from reactor_runtime.session.client import Client
from reactor_runtime.session.refusal_record import RefusalRecord
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.wire import messages as say

_WITHDRAWALS = 8  # calls that have begun are few: the ones whose answers are on their way


class EventInbox:
    """Stands between the clients' commands and the host's events.

    Args:
        host: Where admitted commands are posted.
        wiring: Limits, time and figures.
        refusals: Where it is recorded what was refused, or failed.
    """

    def __init__(self, host: ModelHost, wiring: Wiring, refusals: RefusalRecord) -> None:
        self._host, self._wiring, self._refusals = host, wiring, refusals
        self._numbers = itertools.count(1)
        self._calls: dict[int, Call] = {}
        self._pump = CallPump(host, wiring, self._refused)

    def admit(
        self,
        client: Client,
        command: say.Command,
        arguments: Mapping[str, Any] | None,
        *,
        coalesces: bool,
    ) -> Call | None:
        """Take a command that is right, or answer at once why not and return ``None``.

        Args:
            client: Who calls.
            command: What came.
            arguments: Its validated arguments; ``None`` when they are to come, by ``supply``.
            coalesces: It sets one field: a pending call of the same name need not run.
        """
        queue = self._pump.queue_of(client)
        is_alone = not queue.awaits_answers  # asked before an older call may be taken back
        if coalesces and (older := queue.newest_of(command.name)) and self._take_back(older):
            self._answer(older, say.Acknowledgement(request_id=older.request_id), "coalesced")
        if not self._make_room(queue, command):
            self.refuse(client, command, "overloaded", "too many commands are pending")
            return None
        call = Call(
            call_id=next(self._numbers),
            client=client,
            request_id=command.request_id,
            name=command.name,
            size_bytes=command.size_bytes,
            arrived_at=self._wiring.clock.now(),
        )
        self._calls[call.call_id] = call
        self._wiring.metrics.inbox_pending.set(len(self._calls))
        queue.add(call, None if arguments is None else _event(call, arguments))
        self._pump.advance(queue, is_free=is_alone)
        return call

    def supply(self, call: Call, arguments: Mapping[str, Any]) -> bool:
        """Give a call the arguments that were to come; ``False`` when it was answered already."""
        if call.call_id not in self._calls:
            return False
        self.fill_place(call.client, call.call_id, _event(call, arguments))
        return True

    def give_up(self, call: Call, code: str, message: str) -> None:
        """Answer a call whose arguments do not come, unless it was answered already."""
        if call.call_id in self._calls:
            self._fail(call, code, message)
            self.fill_place(call.client, call.call_id, None)

    def keep_place(self, client: Client) -> int:
        """Return the number of a place in the order, for an event that is to come."""
        number = next(self._numbers)
        self._pump.queue_of(client).hold(number, None)
        return number

    def fill_place(self, client: Client, number: int, event: ModelEvent | None) -> None:
        """Put *event* into its place, ``None`` if there is none, and go on with what is behind."""
        queue = self._pump.find(client)
        if queue is not None:
            queue.fill(number, event)
            self._pump.advance(queue)

    def refuse(
        self,
        client: Client,
        asked: say.Command | say.StepRequest,
        code: str,
        message: str,
        field: str | None = None,
    ) -> None:
        """Answer a command that is not admitted; *field* is the argument that is wrong, if any."""
        self._wiring.tally.answered(code)
        failure = say.Failure(request_id=asked.request_id, code=code, message=message)
        client.send(failure)
        name = asked.name if isinstance(asked, say.Command) else "request_step"
        self._refusals.add(client, name, failure, field)

    def replied(self, reply: CommandReply) -> None:
        """Pass the host's answer on, unless the call has been answered already."""
        call = self._calls.get(reply.call_id)
        if call is None:
            return
        if reply.error_code is not None:
            self._fail(call, reply.error_code, reply.error_message)
        elif reply.message_name is not None:
            body = reply.message_body or {}
            message = say.Message(request_id=call.request_id, name=reply.message_name, body=body)
            self._answer(call, message, "message")
        else:
            self._answer(call, say.Acknowledgement(request_id=call.request_id), "ok")

    def left(self, client: Client) -> None:
        """Post what *client* still has held; its answers go nowhere from now on."""
        for call in self._pump.find(client) or ():
            self._calls.pop(call.call_id, None)
        self._pump.finish(client)
        self._wiring.metrics.inbox_pending.set(len(self._calls))

    def end(self) -> None:
        """Answer every pending command ``session_ended``."""
        for call in tuple(self._calls.values()):
            self._fail(call, "session_ended", "the session has ended")
        self._pump.clear()

    # --- one call ---

    def _take_back(self, call: Call) -> bool:
        queue = self._pump.find(call.client)
        is_held = queue is not None and queue.is_held(call.call_id)
        return is_held or self._host.withdraw(call.call_id)

    def _make_room(self, queue: CallQueue, command: say.Command) -> bool:
        while queue.is_full(command.size_bytes):
            for oldest in queue.oldest_of(command.name, _WITHDRAWALS):
                if self._take_back(oldest):
                    self._fail(oldest, "superseded", "a newer call took its place")
                    break
            else:
                return False
        return True

    def _refused(self, call_id: int) -> None:
        if call_id in self._calls:
            text = "the model takes no more commands"
            self._fail(self._calls[call_id], "session_ended", text)

    def _fail(self, call: Call, code: str, message: str) -> None:
        failure = say.Failure(request_id=call.request_id, code=code, message=message)
        self._answer(call, failure, code)
        self._refusals.add(call.client, call.name, failure)

    def _answer(self, call: Call, message: say.ServerMessage, outcome: str) -> None:
        # Forget it before it is answered: whatever the answer sets off, it is not answered again.
        del self._calls[call.call_id]
        self._wiring.metrics.inbox_pending.set(len(self._calls))
        queue = self._pump.find(call.client)
        if queue is not None:
            queue.remove(call)
        waited_s = self._wiring.clock.now() - call.arrived_at
        self._wiring.metrics.command_seconds.observe(waited_s)
        self._wiring.tally.answered(outcome)
        call.client.send(message)


def _event(call: Call, arguments: Mapping[str, Any]) -> CommandCalled:
    return CommandCalled(
        call_id=call.call_id,
        client_id=call.client.client_id,
        name=call.name,
        arguments=arguments,
    )
