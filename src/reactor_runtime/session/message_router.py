"""MessageRouter: what a client's message sets off, one method per message."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from reactor_runtime.errors import ClipRefusedError
from reactor_runtime.log import get_logger
from reactor_runtime.session.capabilities import make_capabilities
from reactor_runtime.session.client import Client
from reactor_runtime.session.command_desk import CommandDesk
from reactor_runtime.session.event_inbox import EventInbox
from reactor_runtime.session.publishers import Publishers
from reactor_runtime.session.recorder import DISABLED, Recorder
from reactor_runtime.wire import messages as say

log = get_logger(__name__)

_COUNTED_ELSEWHERE = (say.Command, say.FileUploaded)  # by the inbox, and by the files there are


class MessageRouter:
    """Answers what can be answered at once; commands and files go to their desk.

    Args:
        schema: The model's OpenAPI document.
        desk: Where commands are checked.
        inbox: Where they are refused.
        publishers: Who feeds which input track.
        recorder: Who can make clips.
        note: Records an event for operators.
    """

    def __init__(
        self,
        schema: Mapping[str, Any],
        *,
        desk: CommandDesk,
        inbox: EventInbox,
        publishers: Publishers,
        recorder: Recorder | None,
        note: Callable[..., None],
    ) -> None:
        self._schema, self._inbox, self._publishers = schema, inbox, publishers
        self._recorder, self._note = recorder, note
        self._routes: dict[type, Callable[[Client, Any], None]] = {
            say.Command: desk.call,
            say.FileUploaded: desk.announce,
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
        if not isinstance(message, _COUNTED_ELSEWHERE) and not client.requests.take(now):
            self._too_fast(client, message)
            return
        route(client, message)

    # --- commands ---

    def _step(self, client: Client, request: say.StepRequest) -> None:
        text = "this session is streamed; it makes its steps by itself"
        self._inbox.refuse(client, request, "invalid_command", text)

    # --- questions ---

    def _describe(self, client: Client, request: say.SchemaRequest) -> None:
        client.send(say.Schema(request_id=request.request_id, document=self._schema))

    def _capabilities(self, client: Client, _request: say.CapabilitiesRequest) -> None:
        client.send(say.Capabilities(commands=make_capabilities(self._schema)))

    def _clip(self, client: Client, request: say.ClipRequest) -> None:
        try:
            if self._recorder is None:
                raise ClipRefusedError(DISABLED)
            clip = self._recorder.clip(request.duration_s)
        except ClipRefusedError as error:
            client.send(say.ClipFailed(request_id=request.request_id, reason=error.reason))
            return
        url = client.connection.link_prefix + clip.playlist_url
        client.send(replace(clip, request_id=request.request_id, playlist_url=url))
        self._note("clip_ready", **clip.fields)

    def _too_fast(self, client: Client, message: say.ClientMessage) -> None:
        request_id = getattr(message, "request_id", "")
        if request_id:
            text = "too many requests per second"
            if isinstance(message, say.StepRequest):
                self._inbox.refuse(client, message, "overloaded", text)
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
