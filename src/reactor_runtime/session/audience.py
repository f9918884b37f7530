"""Audience: the clients of the running session, and what passes between them and the host."""

import asyncio
from collections.abc import Iterable
from typing import Any

from reactor_runtime.errors import HostClosedError, WireError
from reactor_runtime.host.events import (
    MAX_MESSAGE_BYTES,
    ClientJoined,
    ClientLeft,
    ModelEvent,
)
from reactor_runtime.host.host_outlet import CommandReply, OutboundMessage
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.log import get_logger
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.openapi import UNSTAMPED
from reactor_runtime.session.client import Client
from reactor_runtime.session.client_registry import ClientRegistry
from reactor_runtime.session.command_desk import CommandDesk
from reactor_runtime.session.connection import Connection
from reactor_runtime.session.event_inbox import EventInbox
from reactor_runtime.session.message_router import MessageRouter
from reactor_runtime.session.refusal_record import RefusalRecord
from reactor_runtime.session.session_course import SessionCourse
from reactor_runtime.session.session_state import SessionEvent
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.wire import messages as say
from reactor_runtime.wire.channel import Channel

log = get_logger(__name__)


class Audience:
    """Lets clients in and out, and carries frames, messages and answers.

    Joins and leaves reach the host in order and are never dropped. A session's end is told to the
    host as such, not as one leave per client.

    Args:
        host: Where the model runs.
        course: Moved by the first and the last client.
        wiring: Limits, time, figures and tasks.
    """

    def __init__(self, host: ModelHost, course: SessionCourse, wiring: Wiring) -> None:
        contract = host.contract
        settings = wiring.settings
        schema = contract.render_schema(settings.model_name or "", settings.model_description or "")
        self.schema: dict[str, Any] = schema.to_openapi(settings.model_version or UNSTAMPED)
        self.clients = ClientRegistry()
        self._host, self._course, self._wiring = host, course, wiring
        self._inbox = EventInbox(host, wiring, RefusalRecord(wiring, course.note))
        self._publishers = wiring.publishers
        self._router = MessageRouter(
            self.schema,
            desk=CommandDesk(contract, self._inbox, wiring, course.note),
            inbox=self._inbox,
            publishers=self._publishers,
            recorder=wiring.recorder,
            note=course.note,
        )

    # --- from connections ---

    def join(self, connection: Connection) -> None:
        """Let a client in; outside a session its connection is closed."""
        if self.clients.of(connection) is not None:
            return
        if not self._course.state.is_running:
            log.info("connection_refused", client=connection.client_id)
            self._start_closing(connection)
            return
        replaced = self.clients.called(connection.client_id)
        if replaced is not None:
            self.drop(replaced, "replaced")
        now = self._wiring.clock.now()
        client = Client(
            connection,
            now=now,
            settings=self._wiring.settings,
            on_lost=self._lost,
            tally=self._wiring.tally,
        )
        self.clients.add(client)
        self._wiring.metrics.clients.set(len(self.clients))
        joined = ClientJoined(
            client_id=client.client_id,
            joined_at=self._wiring.clock.wall(),
            # Who takes no messages at all is no reason to refuse one.
            max_message_bytes=connection.max_message_bytes or MAX_MESSAGE_BYTES,
        )
        self._post(joined)
        self._course.move(
            SessionEvent.CONNECTION_OPENED, conn_id=connection.connection_id, transport="webrtc"
        )

    def receive(self, connection: Connection, channel: Channel, frame: bytes | str) -> None:
        """Take one frame of a client; a stranger's is dropped, and one that nobody can read."""
        client = self.clients.of(connection)
        if client is None:  # it was let out, and its connection is closing
            self._wiring.tally.dropped("not_open")
            return
        client.last_frame_at = self._wiring.clock.now()
        self._wiring.tally.received[channel].inc()
        try:
            message = client.decode(channel, frame)
        except WireError as error:
            self._unreadable(client, error)
            return
        self._router.route(client, message, client.last_frame_at)

    def feed(self, connection: Connection, track: str, frame: InputFrame) -> None:
        """Hand one inbound frame to the model, if its client may feed that track."""
        client = self.clients.of(connection)
        if client is None or not self._publishers.may_feed(track, client):
            self._wiring.metrics.input_dropped.labels(track, "not_published").inc()
            return
        self._publishers.claim(track, client)
        client.last_frame_at = self._wiring.clock.now()
        self._host.push_frame(track, frame)

    def may_feed(self, connection: Connection, track: str) -> bool:
        """Whether inbound frames of *track* from *connection* are of use."""
        client = self.clients.of(connection)
        return client is not None and self._publishers.may_feed(track, client)

    def leave(self, connection: Connection, reason: str) -> None:
        """Let a client out; a stranger, or one who has left, is ignored."""
        client = self.clients.of(connection)
        if client is not None:
            self._part(client, reason)

    # --- to clients ---

    def deliver(self, message: OutboundMessage) -> None:
        """Say what the author sent to one client or to all."""
        said = say.Message(name=message.name, body=message.body)
        if message.client_id is None:
            self.clients.broadcast(said)
        elif (client := self.clients.called(message.client_id)) is not None:
            client.send(said)

    def answer(self, reply: CommandReply) -> None:
        """Pass the host's answer to whoever called."""
        self._inbox.replied(reply)

    def dismiss(self, notices: Iterable[say.ServerMessage]) -> list[asyncio.Task[Any]]:
        """Answer what is pending, tell everyone why, and begin to close every connection."""
        self._inbox.end()
        for notice in notices:
            self.clients.broadcast(notice)
        tasks = []
        for client in self.clients:
            client.guess_version()
            self.clients.remove(client)
            self._publishers.release_all(client)
            self._course.note(
                "connection_closed",
                conn_id=client.connection.connection_id,
                transport="webrtc",
                system=True,
            )
            tasks.append(self._start_closing(client.connection))
        self._wiring.metrics.clients.set(0)
        return tasks

    def drop(self, client: Client, reason: str) -> None:
        """Let *client* out and close its connection."""
        self._part(client, reason)
        self._start_closing(client.connection, reason)

    # --- parts of the above ---

    def _part(self, client: Client, reason: str) -> None:
        self._inbox.left(client)
        self.clients.remove(client)
        self._publishers.release_all(client)
        self._wiring.metrics.clients.set(len(self.clients))
        self._post(ClientLeft(client_id=client.client_id))
        self._course.move(
            SessionEvent.CONNECTION_CLOSED
            if len(self.clients)
            else SessionEvent.LAST_CONNECTION_CLOSED,
            conn_id=client.connection.connection_id,
            transport="webrtc",
            reason=reason,
        )

    def _lost(self, client: Client, reason: str) -> None:
        # Not let out at once: this is called in the midst of a broadcast, or of an answer.
        log.info("client_lost", client=client.client_id, reason=reason)
        self._start_closing(client.connection, reason)

    def _unreadable(self, client: Client, error: WireError) -> None:
        self._wiring.tally.dropped("unreadable")
        if not client.has_erred:  # once: a client that sends junk sends a lot of it
            client.has_erred = True
            log.warning("frame_unreadable", client=client.client_id, reason=error.reason)

    def _post(self, event: ModelEvent) -> None:
        try:
            self._host.post(event)
        except HostClosedError as error:
            log.debug("event_not_posted", reason=error.reason)

    def _start_closing(
        self, connection: Connection, reason: str = "closed by the server"
    ) -> asyncio.Task[Any]:
        return self._wiring.tasks.spawn(connection.close(reason), "close_connection")
