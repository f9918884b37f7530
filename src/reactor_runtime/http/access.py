"""AccessRules: who may ask this server for anything. Pure; ``front_door`` applies it.

A browser on the operator's machine is the threat: any web page may send requests to a server on
loopback, in the name of the person who looks at it. Two headers that pages cannot forge tell:

* ``Host`` says by which name the page reached us. A name we do not know may have been pointed at
  this address by its owner (DNS rebinding), which makes the page's requests same-origin.
* ``Origin`` says which site the page came from. Programs send none and are let in.

With a token, its holder is let in from any origin. Upload and clip URLs are secrets themselves,
unless a clip's names its recording by what the session's starter called it.
"""

import base64
import contextlib
import hmac
import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from urllib.parse import parse_qs

from reactor_runtime.loopback import is_loopback

_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[^/:@?#\[\]\s]+)(:\d{1,5})?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^/:@?#\[\]\s]+)(:\d{0,5})?", re.IGNORECASE)

_OPEN_WITHOUT_TOKEN = frozenset({"/health", "/health/live", "/health/ready"})
_CAPABILITY_PREFIXES = ("/uploads/", "/page/")  # the page's files hold no secret
_CLIPS, _CHUNKS = frozenset({"/clips", "/clips/file", "/clips/metadata"}), "/clips/chunks/"
_TOKEN_IN_QUERY = frozenset({"/", "/events"})  # a browser can set no header there


class Verdict(Enum):
    """What becomes of a request."""

    WELCOME = "welcome"
    PREFLIGHT = "preflight"
    WRONG_HOST = "wrong_host"
    FOREIGN_ORIGIN = "foreign_origin"
    NO_TOKEN = "no_token"
    WRONG_TOKEN = "wrong_token"


@dataclass(frozen=True, slots=True, kw_only=True)
class Approach:
    """What the rules look at: a request without its body."""

    method: str
    path: str
    query: bytes = field(default=b"", repr=False)
    host: str | None = None
    origin: str | None = None
    authorization: bytes | None = field(default=None, repr=False)
    is_preflight: bool = False


def name_in(authority: str) -> str:
    """Return the lower-case host of ``host:port`` without brackets, or ``""`` if it has none."""
    found = _AUTHORITY.fullmatch(authority)
    return found[1].strip("[]").rstrip(".").lower() if found else ""


def is_ip_literal(name: str) -> bool:
    """Return whether *name* is an address, which nobody can point elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRules:
    """Who may connect.

    Attributes:
        bind_host: The name or address the server was told to listen on.
        token: What callers must present, if anything.
        allow_origins: Origins let in besides our own host and loopback; ``*`` lets all in.
        allow_hosts: Names we are reached by besides loopback, addresses and *bind_host*.
    """

    bind_host: str
    token: str | None = field(default=None, repr=False)
    allow_origins: Sequence[str] = ()
    allow_hosts: Sequence[str] = ()

    def judge(self, approach: Approach) -> Verdict:
        """Return what becomes of the request *approach*."""
        if not self.knows_host(approach.host):
            return Verdict.WRONG_HOST
        offered = _offered(approach)
        holds_token = self.accepts_token(offered)
        if not holds_token and not self.allows_origin(approach):
            return Verdict.FOREIGN_ORIGIN
        if approach.is_preflight:
            return Verdict.PREFLIGHT
        if self.token is not None and not holds_token and not _needs_no_token(approach):
            return Verdict.NO_TOKEN if offered is None else Verdict.WRONG_TOKEN
        return Verdict.WELCOME

    def knows_host(self, host: str | None) -> bool:
        """Return whether we answer to the ``Host`` header *host*.

        A request without one is no browser's (HTTP/1.0 probes): the rule has nothing to guard.
        """
        if host is None:
            return True
        name = name_in(host)
        known = {name_in(each) for each in (self.bind_host, *self.allow_hosts)} - {""}
        return is_loopback(name) or is_ip_literal(name) or name in known

    def allows_origin(self, approach: Approach) -> bool:
        """Return whether a page from the request's ``Origin`` may call us.

        A preflight carries no token, so where there is one it passes: what follows it is judged.
        """
        if approach.origin is None or "*" in self.allow_origins:
            return True
        if approach.is_preflight and self.token is not None:
            return True
        origin = approach.origin.lower()
        if origin in {each.lower().rstrip("/") for each in self.allow_origins}:
            return True
        found = _ORIGIN.fullmatch(origin)
        if found is None:
            return False
        name = name_in(found[1])
        return is_loopback(name) or (approach.host is not None and name == name_in(approach.host))

    def accepts_token(self, offered: bytes | None) -> bool:
        """Return whether *offered* is our token, where there is one."""
        if self.token is None or offered is None:
            return False
        return hmac.compare_digest(offered, self.token.encode())


def _offered(approach: Approach) -> bytes | None:
    """Return what the request presents as a token: in its header, or where it can set none."""
    offered = _credential(approach.authorization)
    may_ask_in_query = approach.method in {"GET", "HEAD"} and approach.path in _TOKEN_IN_QUERY
    if offered is None and may_ask_in_query:
        offered = _query_token(approach.query)
    return offered


def _credential(authorization: bytes | None) -> bytes | None:
    """Return the token of an ``Authorization`` header, ``None`` when it holds none.

    ``Basic`` is what clients make of ``http://reactor:TOKEN@host``: the Python SDK sends no other
    header when it starts a session.
    """
    scheme, _, value = (authorization or b"").partition(b" ")
    match scheme.lower():
        case b"bearer":
            return value.strip()
        case b"basic":
            with contextlib.suppress(ValueError):
                user, _, password = base64.b64decode(value.strip(), validate=True).partition(b":")
                return password or user
    return None


def _query_token(query: bytes) -> bytes | None:
    values = _queried(query, "token")
    return values[0].encode("utf-8", "surrogateescape") if values else None


def _queried(query: bytes, name: str) -> list[str] | None:
    """Return the values of a query's parameter; ``None`` for a query that cannot be read."""
    try:
        return parse_qs(query.decode("ascii"), max_num_fields=20).get(name, [])
    except ValueError:
        return None


def _needs_no_token(approach: Approach) -> bool:
    path = approach.path
    if path in _CLIPS or path.startswith(_CHUNKS):
        from reactor_runtime.recording.recording import is_recording_id  # not before it is wanted

        named = _queried(approach.query, "session_id")
        if path.startswith(_CHUNKS):
            named = [path.removeprefix(_CHUNKS).partition("/")[0]]
        return named is not None and all(map(is_recording_id, named))
    return path in _OPEN_WITHOUT_TOKEN or path.startswith(_CAPABILITY_PREFIXES)
