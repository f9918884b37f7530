"""ControlLink: requests to one control plane, each on a connection of its own, with a deadline."""

import http.client
import json
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from typing import IO
from urllib.parse import urlsplit

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError

REQUEST_S = 5.0
TRANSFER_S = 300.0
_RETRY_S = 0.5


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
        connection = self._connect(timeout_s)
        try:
            given = body.encode() if isinstance(body, str) else body
            return self._request(connection, method, path, given).read()
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise ControlPlaneAbsentError(self.url, reason) from error
        finally:
            connection.close()

    def fetch(self, path: str, target: Path) -> None:
        """Write what stands at *path* to the file *target*; raises as ``ask`` does."""
        connection = self._connect(TRANSFER_S)
        try:
            response = self._request(connection, "GET", path, None)
            with target.open("wb") as file:
                shutil.copyfileobj(response, file)
        except (OSError, http.client.HTTPException) as error:
            raise ControlPlaneAbsentError(self.url, str(error)) from error
        finally:
            connection.close()

    def send(self, path: str, source: Path) -> None:
        """Put the file *source* at *path*; raises as ``ask`` does."""
        connection = self._connect(TRANSFER_S)
        try:
            with source.open("rb") as content:
                size = {"Content-Length": str(source.stat().st_size)}
                self._request(connection, "PUT", path, content, size).read()
        except (OSError, http.client.HTTPException) as error:
            raise ControlPlaneAbsentError(self.url, str(error)) from error
        finally:
            connection.close()

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=timeout_s)
        try:
            connection.connect()
        except OSError as error:
            raise ControlPlaneAbsentError(self.url, error.strerror or str(error)) from error
        if connection.sock is not None:
            connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

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
