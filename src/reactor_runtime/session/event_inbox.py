"""EventInbox: admits or refuses commands, and sees to it that each is answered exactly once.

Rules, per client: at most ``max_pending`` unanswered commands. A new ``set_<field>`` takes the
place of a pending one, which is acknowledged and not run. When the inbox is full the oldest pending
call of the same name is answered ``superseded``; if there is none, the new one is ``overloaded``.
Commands reach the host at a bounded rate; past it they wait here, where the same rules apply, so
that a flood costs neither the event loop nor the model more than its bound. Admission is O(1).
"""

import itertools
from collections.abc import Mapping
from typing import Any

from reactor_runtime.errors import HostClosedError
from reactor_runtime.host.events import CommandCalled
from reactor_runtime.host.host_outlet import CommandReply
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.session.call_queue import Call, CallQueue
from reactor_runtime.session.client import Client
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.wire import messages as say

_PUMP_S = 0.005
_WITHDRAWALS = 8  # calls that have begun are few: the ones whose answers are on their way


class EventInbox:
    """Stands between the clients' commands and the host's events.

    Args:
        host: Where admitted commands are posted.
        wiring: Limits, time and figures.
    """

    def __init__(self, host: ModelHost, wiring: Wiring) -> None:
        self._host, self._wiring = host, wiring
        self._call_ids = itertools.count(1)
        self._calls: dict[int, Call] = {}
        self._queues: dict[Client, CallQueue] = {}
        self._is_pumping = False

    def admit(
        self,
        client: Client,
        command: say.Command,
        arguments: Mapping[str, Any],
        *,
        coalesces: bool,
    ) -> bool:
        """Take a validated command, or answer at once why not.

        Args:
            client: Who calls.
            command: What came.
            arguments: Its validated arguments.
            coalesces: It sets one field: a pending call of the same name need not run.
        """
        now = self._wiring.clock.now()
        queue = self._queues.get(client)
        if queue is None:
            queue = self._queues[client] = CallQueue(self._wiring.settings, now)
        if coalesces and (older := queue.newest_of(command.name)) and self._take_back(older):
            self._answer(older, say.Acknowledgement(request_id=older.request_id), "coalesced")
        if not self._make_room(queue, command):
            self.refuse(client, command.request_id, "overloaded", "too many commands are pending")
            return False
        call = Call(
            call_id=next(self._call_ids),
            client=client,
            request_id=command.request_id,
            name=command.name,
            arguments=arguments,
            size_bytes=command.size_bytes,
            arrived_at=now,
        )
        self._calls[call.call_id] = call
        self._wiring.metrics.inbox_pending.set(len(self._calls))
        queue.add(call)
        self._advance(queue, now)
        return True

    def refuse(self, client: Client, request_id: str, code: str, message: str) -> None:
        """Answer a command that is not admitted."""
        self._wiring.tally.answered(code)
        client.send(say.Failure(request_id=request_id, code=code, message=message))

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
        queue = self._queues.pop(client, None)
        for call in queue or ():
            if queue is not None and queue.is_held(call):
                self._post(call)
            self._calls.pop(call.call_id, None)
        self._wiring.metrics.inbox_pending.set(len(self._calls))

    def end(self) -> None:
        """Answer every pending command ``session_ended``."""
        for call in tuple(self._calls.values()):
            self._fail(call, "session_ended", "the session has ended")
        self._queues.clear()

    # --- one call ---

    def _take_back(self, call: Call) -> bool:
        return self._queues[call.client].is_held(call) or self._host.withdraw(call.call_id)

    def _make_room(self, queue: CallQueue, command: say.Command) -> bool:
        while queue.is_full(command.size_bytes):
            for oldest in queue.oldest_of(command.name, _WITHDRAWALS):
                if self._take_back(oldest):
                    self._fail(oldest, "superseded", "a newer call took its place")
                    break
            else:
                return False
        return True

    def _fail(self, call: Call, code: str, message: str) -> None:
        failure = say.Failure(request_id=call.request_id, code=code, message=message)
        self._answer(call, failure, code)

    def _answer(self, call: Call, message: say.ServerMessage, outcome: str) -> None:
        # Forget it before it is answered: whatever the answer sets off, it is not answered again.
        del self._calls[call.call_id]
        self._wiring.metrics.inbox_pending.set(len(self._calls))
        queue = self._queues.get(call.client)
        if queue is not None:
            queue.remove(call)
        waited_s = self._wiring.clock.now() - call.arrived_at
        self._wiring.metrics.command_seconds.observe(waited_s)
        self._wiring.tally.answered(outcome)
        call.client.send(message)

    # --- towards the host ---

    def _post(self, call: Call) -> None:
        event = CommandCalled(
            call_id=call.call_id,
            client_id=call.client.client_id,
            name=call.name,
            arguments=call.arguments,
        )
        try:
            self._host.post(event)
        except HostClosedError:
            if call.call_id in self._calls:
                self._fail(call, "session_ended", "the model takes no more commands")

    def _advance(self, queue: CallQueue, now: float) -> None:
        while (call := queue.oldest_held()) is not None:
            if not queue.bucket.take(now):
                self._start_pump()
                return
            queue.posted(call)
            self._post(call)

    def _start_pump(self) -> None:
        if not self._is_pumping:
            self._is_pumping = True
            self._wiring.tasks.spawn(self._pump(), "command_pump")

    async def _pump(self) -> None:
        try:
            while any(queue.oldest_held() for queue in self._queues.values()):
                await self._wiring.clock.sleep_until(self._wiring.clock.now() + _PUMP_S)
                for queue in tuple(self._queues.values()):
                    self._advance(queue, self._wiring.clock.now())
        finally:
            self._is_pumping = False
