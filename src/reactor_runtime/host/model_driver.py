"""ModelDriver: what events mean to one author model. Every host drives its models with it.

It knows no loop, gate or thread: who applies events and when is its host's business.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from reactor_runtime.author_text import text_of
from reactor_runtime.errors import CommandError
from reactor_runtime.host.events import (
    ClientJoined,
    ClientLeft,
    CommandCalled,
    FileArrived,
    ModelEvent,
    SessionEnded,
    SessionStarted,
)
from reactor_runtime.host.outcome import APPLIED, Outcome
from reactor_runtime.log import bound, get_logger
from reactor_runtime.model.author_call import attempt, settle
from reactor_runtime.model.client_info import ClientInfo
from reactor_runtime.model.command import CommandContract
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.lifecycle import Hook
from reactor_runtime.model.messages import ModelMessage, body_of, wire_name
from reactor_runtime.model.outlet import Outlet
from reactor_runtime.model.reactor_model import ReactorModel, tell
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.seeding import seed_generators

log = get_logger(__name__)

LogFailure = Callable[[str, BaseException, Mapping[str, Any]], None]


class ModelDriver:
    """Applies events to a loaded model, one at a time.

    Args:
        model: The author's, loaded.
        contract: What its class declares.
        outlet: Where ``client.send`` goes.
        seed: Seeds the generators of this process.
        log_failure: Called with an event's name, what the author raised and fields to log.
    """

    def __init__(
        self,
        model: ReactorModel,
        contract: ModelContract,
        outlet: Outlet,
        *,
        seed: Callable[[int], None] = seed_generators,
        log_failure: LogFailure | None = None,
    ) -> None:
        self.model = model
        self._seed, self._tell_log = seed, log_failure or log_at_once
        self._contract, self._outlet = contract, outlet
        self._clients: dict[str, ClientInfo] = {}
        self._session_id: str | None = None
        self._warned: set[str] = set()  # commands

    async def apply(self, event: ModelEvent) -> Outcome:
        """Run what the author wrote for *event*, to completion.

        Nothing an author raises comes out of it: it is in the outcome, and logged but for
        ``session_started``, whose failure ends the session and is its host's to log.
        """
        client_id: str | None = getattr(event, "client_id", None)
        with nullcontext() if client_id is None else bound(client=client_id):
            return await self._apply(event)

    async def _apply(self, event: ModelEvent) -> Outcome:
        match event:
            case CommandCalled():
                return await self._call(event)
            case SessionStarted():
                return await self._start_session(event)
            case SessionEnded():
                await self._end_session()
            case ClientJoined():
                client = ClientInfo(event.client_id, event.joined_at, self._outlet)
                self._clients[event.client_id] = client
                await self._hook(self._contract.lifecycle.connected, client)
            case ClientLeft() if event.client_id in self._clients:
                client = self._clients.pop(event.client_id)
                await self._hook(self._contract.lifecycle.disconnected, client)
            case FileArrived():
                client = self._client(event.client_id)
                await self._hook(self._contract.lifecycle.file_uploaded, client, event.file)
        return APPLIED

    async def run(self) -> BaseException | None:
        """Run the model's body; return what it raised."""
        _, error = await attempt(self._run_body)
        if error is None and self._session_id is not None:
            log.warning("run_returned", advice="no more is shown until the next session calls it")
        return error

    async def _run_body(self) -> None:
        running = self.model.run()
        if not inspect.isawaitable(running):
            raise TypeError(
                f"{type(self.model).__name__}.run() must be `async def` and not yield; it returned "
                f"{type(running).__name__}"
            )
        await running

    async def _start_session(self, event: SessionStarted) -> Outcome:
        self._session_id = event.session_id
        tell(self.model, "seed", event.seed)
        self._seed(event.seed)
        state_class = self._contract.state_class
        self.model.state, error = await attempt(state_class or (lambda: None))
        hook = self._contract.lifecycle.session_started
        if error is None and hook is not None:
            _, error = await attempt(getattr(self.model, hook.name))
        return APPLIED if error is None else Outcome(raised=error)

    async def _end_session(self) -> None:
        await self._hook(self._contract.lifecycle.session_ended)
        self.model.state = None
        vars(self.model).pop("state", None)  # who reads it now is told that there is none
        self._clients.clear()
        self._session_id = None

    async def _hook(
        self, hook: Hook | None, client: ClientInfo | None = None, file: UploadedFile | None = None
    ) -> None:
        if hook is None:
            return
        given = {hook.client_parameter: client, hook.file_parameter: file}
        arguments = {name: value for name, value in given.items() if name is not None}
        _, error = await attempt(getattr(self.model, hook.name), **arguments)
        if error is not None:
            whose = {} if client is None else {"client": client.id}
            self.log_failure("hook_failed", error, hook=hook.name, **whose)

    async def _call(self, call: CommandCalled) -> Outcome:
        command = self._contract.commands.get(call.name)
        if command is None:
            return Outcome(error_code="invalid_command", error_message="there is no such command")
        outcome: Outcome | None
        outcome, error = await attempt(self._run_command, command, call)
        if isinstance(error, CommandError):
            return Outcome(error_code=text_of(error.code), error_message=text_of(error.message))
        if error is not None:
            self.log_failure("command_failed", error, command=call.name, client=call.client_id)
            return Outcome(
                error_code="internal_error", error_message="the command failed", raised=error
            )
        return outcome or APPLIED

    async def _run_command(self, command: CommandContract, call: CommandCalled) -> Outcome:
        arguments = dict(call.arguments)
        if command.field is not None:
            setattr(self.model.state, command.field, arguments[command.field])
        if command.handler_name is None:
            return APPLIED
        if command.client_parameter is not None:
            arguments[command.client_parameter] = self._client(call.client_id)
        answer = await settle(getattr(self.model, command.handler_name)(**arguments))
        if not isinstance(answer, ModelMessage):  # whatever else it returns, it acknowledges
            if answer is not None:
                self._warn_of(command, answer)
            return APPLIED
        return Outcome(message_name=wire_name(type(answer)), message_body=body_of(answer))

    def _warn_of(self, command: CommandContract, answer: object) -> None:
        if command.name in self._warned:
            return
        self._warned.add(command.name)
        wanted = " or ".join(reply.__name__ for reply in command.replies) or "a ModelMessage"
        advice = f"clients got an acknowledgement; return {wanted}, or nothing"
        log.warning(
            "answer_dropped", command=command.name, returned=type(answer).__name__, advice=advice
        )

    def _client(self, client_id: str) -> ClientInfo:
        """Return the client, or a stand-in for one who is not here: what was sent at the start."""
        return self._clients.get(client_id) or ClientInfo(client_id, 0.0, self._outlet)

    def log_failure(self, event: str, error: BaseException, **fields: Any) -> None:
        """Log what the author raised and nothing ends for, once, whatever the number of ranks."""
        self._tell_log(event, error, {"session": self._session_id, **fields})


def log_at_once(event: str, error: BaseException, fields: Mapping[str, Any]) -> None:
    """Write one line with the traceback of *error*."""
    log.error(event, exc_info=error, **fields)
