"""MessageRouter: what a client's message sets off, one method per message."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from reactor_runtime.errors import PayloadError
from reactor_runtime.log import get_logger
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.file_references import FileReference
from reactor_runtime.session.capabilities import make_capabilities
from reactor_runtime.session.client import Client
from reactor_runtime.session.event_inbox import EventInbox
from reactor_runtime.session.publishers import Publishers
from reactor_runtime.wire import messages as say
from reactor_runtime.wire.codec import WireVersion

log = get_logger(__name__)

RECORDER_DISABLED = "recorder disabled or encoder crashed"
_LOGGED_BYTES = 4096


class MessageRouter:
    """Answers what can be answered at once; commands go to the inbox.

    Args:
        contract: What the model declares.
        schema: Its OpenAPI document.
        inbox: Where commands are admitted.
        publishers: Who feeds which input track.
        note: Records an event for operators.
    """

    def __init__(
        self,
        contract: ModelContract,
        schema: Mapping[str, Any],
        *,
        inbox: EventInbox,
        publishers: Publishers,
        note: Callable[..., None],
    ) -> None:
        self._contract, self._schema = contract, schema
        self._inbox, self._publishers, self._note = inbox, publishers, note
        self._minted = itertools.count(1)
        self._routes: dict[type, Callable[[Client, Any], None]] = {
            say.Command: self._command,
            say.StepRequest: self._step,
            say.SchemaRequest: self._describe,
            say.CapabilitiesRequest: self._capabilities,
            say.ClipRequest: self._clip,
            say.PublishTrack: self._publish,
            say.UnpublishTrack: self._unpublish,
            say.PauseTrack: self._pause,
            say.ResumeTrack: self._resume,
        }

    def route(self, client: Client, message: say.ClientMessage, now: float) -> None:
        """Do what *message* asks. Pings, and what nobody knows, ask for nothing."""
        route = self._routes.get(type(message))
        if route is None:
            return
        if not isinstance(message, say.Command) and not client.requests.take(now):
            self._too_fast(client, message)
            return
        route(client, message)

    # --- commands ---

    def _command(self, client: Client, command: say.Command) -> None:
        if not command.request_id and client.version is WireVersion.V1:
            command = replace(command, request_id=f"server_{next(self._minted)}")
        declared = self._contract.commands.get(command.name)
        try:
            arguments = self._contract.bind(command.name, _payload(command))
        except PayloadError as error:
            self._inbox.refuse(client, command.request_id, error.code, str(error))
            return
        coalesces = declared is not None and declared.field is not None
        if self._inbox.admit(client, command, arguments, coalesces=coalesces):
            self._note(
                "command",
                name=command.name,
                args=command.arguments if command.size_bytes <= _LOGGED_BYTES else {},
                conn_id=client.connection.connection_id,
            )

    def _step(self, client: Client, request: say.StepRequest) -> None:
        text = "this session is streamed; it makes its steps by itself"
        self._inbox.refuse(client, request.request_id, "invalid_command", text)

    # --- questions ---

    def _describe(self, client: Client, request: say.SchemaRequest) -> None:
        client.send(say.Schema(request_id=request.request_id, document=self._schema))

    def _capabilities(self, client: Client, _request: say.CapabilitiesRequest) -> None:
        client.send(say.Capabilities(commands=make_capabilities(self._schema)))

    def _clip(self, client: Client, request: say.ClipRequest) -> None:
        client.send(say.ClipFailed(request_id=request.request_id, reason=RECORDER_DISABLED))

    def _too_fast(self, client: Client, message: say.ClientMessage) -> None:
        request_id = getattr(message, "request_id", "")
        if request_id:
            text = "too many requests per second"
            if isinstance(message, say.StepRequest):
                self._inbox.refuse(client, request_id, "overloaded", text)
            else:
                client.send(
                    say.ControlFailure(request_id=request_id, code="overloaded", message=text)
                )

    # --- tracks ---

    def _publish(self, client: Client, request: say.PublishTrack) -> None:
        if self._publishers.claim(request.track, client):
            client.send(say.PublishGranted(request_id=request.request_id))
            return
        is_input = self._publishers.has(request.track)
        text = "another client publishes it" if is_input else "there is no such input track"
        client.send(
            say.ControlFailure(request_id=request.request_id, code="publish_refused", message=text)
        )

    def _unpublish(self, client: Client, request: say.UnpublishTrack) -> None:
        self._publishers.release(request.track, client)

    def _pause(self, client: Client, request: say.PauseTrack) -> None:
        if not client.connection.pause_track(request.track):
            log.debug("unknown_track", client=client.client_id)

    def _resume(self, client: Client, request: say.ResumeTrack) -> None:
        if not client.connection.resume_track(request.track):
            log.debug("unknown_track", client=client.client_id)


def _payload(command: say.Command) -> Mapping[str, Any]:
    """Return the arguments with the files that came beside them in their places."""
    if not command.uploads:
        return command.arguments
    files = {key: FileReference(file.upload_id) for key, file in command.uploads.items()}
    return {**command.arguments, **files}
