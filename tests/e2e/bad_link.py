"""A link that loses, delays and caps what a server sends: a relay, for kernels without netem.

::

    client ── HTTP ──► proxy ── HTTP ──► server      answers name the relay, offers name nobody,
    client ◄── UDP ──► relay ◄── UDP ──► server      so that nothing goes round it

Any client works through ``BadLink.url``. One link is for one client. Standard library only.
"""

import contextlib
import heapq
import http.client
import http.server
import json
import random
import re
import select
import socket
import threading
import time
import urllib.parse
from dataclasses import dataclass, replace
from typing import Any, Self

_CANDIDATE = re.compile(r"a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ [^\r\n]*", re.IGNORECASE)
_END_OF_CANDIDATES = re.compile(r"a=(candidate:|end-of-candidates)[^\r\n]*\r?\n")
_HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "host", "accept-encoding"}
_WAKE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What the link does to packets from the server.

    Attributes:
        bits_per_s: At most so many leave; ``None`` for any.
        queue_s: What would wait longer is dropped.
        loss: Share dropped at random.
        delay_s: Added to each, and to packets of the client.
    """

    bits_per_s: float | None = None
    queue_s: float = 0.2
    loss: float = 0.0
    delay_s: float = 0.0


HEALTHY = Shape()


class _Relay(threading.Thread):
    """Passes packets on, each when its time has come."""

    def __init__(self, address: str) -> None:
        super().__init__(name="bad-link", daemon=True)
        self.shape = HEALTHY
        self.server: tuple[str, int] | None = None
        self.octets = self.lost = 0
        self._front = _udp(address)
        self._back = _udp(address)
        self._client: tuple[str, int] | None = None
        self._waiting: list[tuple[float, int, bytes, bool]] = []
        self._number = 0
        self._free_at = 0.0
        self._is_closing = False
        self._random = random.Random(7)
        self.address: tuple[str, int] = self._front.getsockname()

    def run(self) -> None:
        with self._front, self._back:
            while not self._is_closing:
                self._send_due()
                wait_s = self._waiting[0][0] - time.monotonic() if self._waiting else _WAKE_S
                sockets = [self._front, self._back]
                for ready in select.select(sockets, [], [], max(0.0, min(wait_s, _WAKE_S)))[0]:
                    self._read(ready)

    def stop(self) -> None:
        self._is_closing = True
        self.join(5)

    def _read(self, ready: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                packet, sender = ready.recvfrom(65536)
                now = time.monotonic()
                if ready is self._front:
                    self._client = sender
                    self._keep(now + self.shape.delay_s, packet, to_server=True)
                else:
                    self._take_down(packet, now)

    def _take_down(self, packet: bytes, now: float) -> None:
        shape = self.shape
        if self._random.random() < shape.loss:
            self.lost += 1
            return
        leaves_at = now
        if shape.bits_per_s is not None:
            leaves_at = max(now, self._free_at) + 8 * len(packet) / shape.bits_per_s
            if leaves_at - now > shape.queue_s:
                self.lost += 1
                return
            self._free_at = leaves_at
        self._keep(leaves_at + shape.delay_s, packet, to_server=False)

    def _keep(self, when: float, packet: bytes, *, to_server: bool) -> None:
        self._number += 1
        heapq.heappush(self._waiting, (when, self._number, packet, to_server))

    def _send_due(self) -> None:
        now = time.monotonic()
        while self._waiting and self._waiting[0][0] <= now:
            _, _, packet, to_server = heapq.heappop(self._waiting)
            end, target = (self._back, self.server) if to_server else (self._front, self._client)
            if target is not None:
                self.octets += 0 if to_server else len(packet)
                with contextlib.suppress(OSError):
                    end.sendto(packet, target)


def _udp(address: str) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    made.bind((address, 0))
    made.setblocking(False)
    return made


class BadLink:
    """One client's way to the server at *url*: as good as none until its shape is changed.

    Args:
        url: Of the server.
        address: One of this machine that peers can be reached at.

    Attributes:
        url: What the client is told instead.
    """

    def __init__(self, url: str, address: str) -> None:
        self._relay = _Relay(address)
        parts = urllib.parse.urlsplit(url)
        assert parts.hostname
        assert parts.port
        there = (parts.hostname, parts.port)

        class Handler(_Handler):
            relay, server_at = self._relay, there

        self._proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._proxy.daemon_threads = True
        self._thread = threading.Thread(target=self._proxy.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._proxy.server_address[1]}"

    def __enter__(self) -> Self:
        self._relay.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._proxy.shutdown()
        self._thread.join(5)
        self._proxy.server_close()
        self._relay.stop()

    def become(self, shape: Shape) -> None:
        """Do to packets from now on what *shape* says."""
        self._relay.shape = replace(shape)

    @property
    def octets(self) -> int:
        """Bytes that have reached the client."""
        return self._relay.octets

    @property
    def lost(self) -> int:
        """Packets from the server that the client never got."""
        return self._relay.lost


class _Handler(http.server.BaseHTTPRequestHandler):
    """Passes requests on, with the relay's address for everybody's."""

    relay: _Relay
    server_at: tuple[str, int]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on()

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_GET  # noqa: N815 - the library's

    def _pass_on(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP_BY_HOP}
        there = http.client.HTTPConnection(*self.server_at, timeout=60)
        try:
            there.request(self.command, self.path, body=self._nameless(body), headers=headers)
            answer = there.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP_BY_HOP:
                    self.send_header(name, value)
            self._answer(answer)
        except (ConnectionError, http.client.HTTPException):
            self.close_connection = True
        finally:
            there.close()

    def _answer(self, answer: http.client.HTTPResponse) -> None:
        if "event-stream" in (answer.getheader("Content-Type") or ""):
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            while piece := answer.read1(65536):
                self.wfile.write(piece)
            return
        body = self._named(answer.read())
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.status not in (204, 304):
            self.wfile.write(body)

    def _nameless(self, body: bytes) -> bytes:
        """Return what a client says without its addresses."""
        if self.path.endswith("/ice_candidates"):
            return self._rewritten(body, lambda key, value: [] if key == "candidates" else value)
        if b"candidate:" not in body:
            return body
        return self._rewritten(
            body, lambda _, value: _END_OF_CANDIDATES.sub("", value) if _is_sdp(value) else value
        )

    def _named(self, body: bytes) -> bytes:
        """Return what the server says with the relay's address for its own."""
        if b"candidate:" not in body:
            return body
        return self._rewritten(
            body, lambda _, value: self._at_relay(value) if _is_sdp(value) else value
        )

    def _at_relay(self, sdp: str) -> str:
        found = _CANDIDATE.search(sdp)
        if found is None:
            return sdp
        self.relay.server = (found[1], int(found[2]))
        host, port = self.relay.address
        ours = f"a=candidate:1 1 udp 2130706431 {host} {port} typ host\r\n"
        bare = _END_OF_CANDIDATES.sub("", sdp)
        at = bare.index("a=ice-ufrag:")
        return bare[:at] + ours + "a=end-of-candidates\r\n" + bare[at:]

    def _rewritten(self, body: bytes, change: Any) -> bytes:
        try:
            said = json.loads(body)
        except ValueError:
            return str(change("", body.decode())).encode()
        return json.dumps({key: change(key, value) for key, value in said.items()}).encode()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def _is_sdp(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("v=0")
