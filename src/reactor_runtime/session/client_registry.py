"""ClientRegistry: who is here, by connection and by id."""

from collections.abc import Iterator

from reactor_runtime.session.client import Client, Shared
from reactor_runtime.session.connection import Connection
from reactor_runtime.wire import messages as say


class ClientRegistry:
    """The clients of one session."""

    def __init__(self) -> None:
        self._by_connection: dict[Connection, Client] = {}
        self._by_id: dict[str, Client] = {}

    def __len__(self) -> int:
        return len(self._by_connection)

    def __iter__(self) -> Iterator[Client]:
        return iter(tuple(self._by_connection.values()))

    def add(self, client: Client) -> None:
        """Let *client* in."""
        self._by_connection[client.connection] = client
        self._by_id[client.client_id] = client

    def remove(self, client: Client) -> None:
        """Let *client* out."""
        self._by_connection.pop(client.connection, None)
        if self._by_id.get(client.client_id) is client:
            del self._by_id[client.client_id]

    def of(self, connection: Connection) -> Client | None:
        """Return the client behind *connection*, ``None`` for a stranger."""
        return self._by_connection.get(connection)

    def called(self, client_id: str) -> Client | None:
        """Return the client of that id, ``None`` when it has left."""
        return self._by_id.get(client_id)

    def broadcast(self, message: say.ServerMessage) -> None:
        """Say *message* to everyone, encoded once per wire version."""
        shared: Shared = {}
        for client in self:
            client.send(message, shared)
