"""Viewers: every fake client of a model under test."""

import itertools

from reactor_runtime.session.session_state import SessionState
from reactor_runtime.testing.bench_parts import BenchParts
from reactor_runtime.testing.client_connection import ClientConnection
from reactor_runtime.testing.client_inbox import ClientInbox
from reactor_runtime.testing.received import Frame

_PING_S = 5.0
_FIRST_CONNECTION = 1001


class Viewers:
    """Lets clients in, shows them frames, and has them give signs of life.

    Args:
        parts: What they connect to.

    Attributes:
        clients: Every client that ever connected.
    """

    def __init__(self, parts: BenchParts) -> None:
        self.clients: list[ClientConnection] = []
        self._parts = parts
        self._numbers = itertools.count(_FIRST_CONNECTION)
        self._pinged_at = parts.clock.now()

    @property
    def are_there(self) -> bool:
        """Whether one is connected: without, no step runs."""
        return self._parts.session.state is SessionState.STREAMING

    def let_in(self, name: str | None) -> ClientConnection:
        """Connect a client, called *name* or by its number."""
        session, tracks = self._parts.session, self._parts.stream.tracks
        inbox = ClientInbox(tracks, self._parts.news.tell)
        client = ClientConnection(session, next(self._numbers), inbox, tracks)
        client.client_id = name or client.client_id
        self.clients.append(client)
        client.open()
        client.ping()
        return client

    def deliver(self, frame: Frame) -> None:
        """Show *frame* to every client that plays its track."""
        for client in self.clients:
            client.show_picture(frame)

    def time_moved(self) -> None:
        """Let every client give the sign of life that is due."""
        if self._parts.clock.now() - self._pinged_at >= _PING_S:
            self._pinged_at = self._parts.clock.now()
            for client in self.clients:
                client.ping()
