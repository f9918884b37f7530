"""ControlLink: requests to one control plane, each on a connection of its own, with a deadline."""

import http.client
import json
import socket
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event
from typing import IO
from urllib.parse import urlsplit

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError

REQUEST_S = 5.0
TRANSFER_S = 300.0
_RETRY_S = 0.5
_PIECE = 256 * 1024


def persist(call: Callable[[], None], patience_s: float, stop: Event) -> None:
    """Do *call* again and again until the control plane is there.

    Raises:
        ControlPlaneAbsentError: It was not for *patience_s*, or until *stop* was set.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            call()
        except ControlPlaneAbsentError:
            if time.monotonic() > deadline or stop.wait(_RETRY_S):
                raise
        else:
            return


class ControlLink:
    """Knows the address and the token, and nothing of what is said. Blocking; any thread."""

    def __init__(self, url: str, token: str | None = None) -> None:
        parts = urlsplit(url if "//" in url else f"http://{url}")
        self.url = url
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 80
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def ask(
        self, method: str, path: str, body: str | bytes | None = None, timeout_s: float = REQUEST_S
    ) -> bytes:
        """Send a request and return the answer's body.

        Raises:
            ControlPlaneAbsentError: Nobody answered in time.
            ControlPlaneError: The answer is a refusal.
        """
        try:
            return self._ask_once(method, path, body, timeout_s)
        except ControlPlaneAbsentError as error:
            # A server gives up who says nothing for long after connecting, as a starved process
            # does; what only reads may be asked again.
            if method != "GET" or not isinstance(error.__cause__, http.client.RemoteDisconnected):
                raise
        return self._ask_once(method, path, body, timeout_s)

    def _ask_once(
        self, method: str, path: str, body: str | bytes | None, timeout_s: float
    ) -> bytes:
        given = body.encode() if isinstance(body, str) else body
        with self._connection(timeout_s) as connection:
            return self._request(connection, method, path, given).read()

    def fetch(self, path: str, target: Path) -> None:
        """Write what stands at *path* to the file *target*.

        Raises:
            OSError: The file cannot be written.
            ControlPlaneAbsentError: As ``ask``; also when the answer was cut short.
            ControlPlaneError: As ``ask``.
        """
        with target.open("wb") as file, closing(self._pieces(path)) as pieces:
            for piece in pieces:
                file.write(piece)

    def _pieces(self, path: str) -> Generator[bytes, None, None]:
        with self._connection(TRANSFER_S) as connection:
            response = self._request(connection, "GET", path, None)
            while piece := response.read(_PIECE):
                yield piece
            if response.length:  # which a read of so many bytes does not complain of
                raise http.client.IncompleteRead(b"", response.length)

    def send(self, path: str, source: Path) -> None:
        """Put the file *source* at *path*.

        Raises:
            OSError: The file cannot be opened.
            ControlPlaneAbsentError: As ``ask``.
            ControlPlaneError: As ``ask``.
        """
        with source.open("rb") as content, self._connection(TRANSFER_S) as connection:
            size = {"Content-Length": str(source.stat().st_size)}
            self._request(connection, "PUT", path, content, size).read()

    @contextmanager
    def _connection(self, timeout_s: float) -> Iterator[http.client.HTTPConnection]:
        """A connection for one request; whatever goes wrong on it, the control plane is absent."""
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        try:
            connection.connect()
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield connection
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise ControlPlaneAbsentError(self.url, reason) from error
        finally:
            connection.close()

    def _request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: bytes | IO[bytes] | None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        connection.request(method, path, body, {**self._headers, **(headers or {})})
        response = connection.getresponse()
        if response.status >= 400:
            text = response.read(65536).decode(errors="replace")
            raise ControlPlaneError(response.status, _reason(text))
        return response


def _reason(text: str) -> str:
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text or "no reason given"
