"""Kinds of setting: what text is a right value, and what a wrong one should have been.

One table for flags, environment variables and YAML scalars: each source hands over the text that
was written, and the kind of the setting, not the notation, decides what it means.
"""

import ipaddress
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[+-]?[0-9]+(?:\.0+)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BITRATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kKmM]?)(?:bit/s|bps)?")
_BYTES = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kKmMgGtT]?)(?:i?B)?")
_RESOLUTION = re.compile(r"([0-9]{2,5})\s*[xX]\s*([0-9]{2,5})")
_ICE_SERVER = re.compile(
    r"(?P<scheme>stuns?|turns?):"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:\?transport=(?P<transport>udp|tcp))?"
)
# Over UDP, TLS would be DTLS, which neither browsers nor this server speak with a relay.
_TRANSPORTS = {("turn", "udp"), ("turn", "tcp"), ("turns", "tcp")}
_HOST = re.compile(r"[A-Za-z0-9_.:\[\]%-]+")
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of value.

    Attributes:
        wanted: What a right value is, in words that follow "wanted".
        parse: Text to value; raises ``ValueError`` when the text is none of it.
        is_text: Any text is one, quoted or not.
        has_login: A value, a wrong one too, may hold a password: it is never shown.
        placeholder: What stands for a value in help.
    """

    wanted: str
    parse: Callable[[str], Any]
    is_text: bool = False
    has_login: bool = False
    placeholder: str = "TEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A picture's size limit, in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnServer:
    """A relay and how to log in there.

    Attributes:
        uri: ``turn:host[:port][?transport=udp|tcp]`` or ``turns:`` over TCP, without credentials.
        username: Empty when there is none.
        credential: Never shown by ``repr`` or ``str``.
    """

    uri: str
    username: str = ""
    credential: str = ""

    def __repr__(self) -> str:
        return f"TurnServer({self})"

    def __str__(self) -> str:
        return f"{self.uri} (as {self.username})" if self.username else self.uri


def _text(text: str) -> str:
    if not text.strip() or "\0" in text:
        raise ValueError("empty, or with a NUL character")
    text.encode()  # a lone surrogate is no text; the error is a ValueError
    return text


def _path(text: str) -> Path:
    try:
        return Path(_text(text)).expanduser()
    except RuntimeError:  # "~name" of a user that does not exist
        raise ValueError("no such home folder") from None


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text.strip()):
        raise ValueError("not a number")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("too large")
    return value


def whole(minimum: int, maximum: int | None = None) -> Kind:
    """Return the kind of whole numbers from *minimum* to *maximum*, both included."""

    def parse(text: str) -> int:
        stripped = text.strip()
        if not _WHOLE.fullmatch(stripped) or len(stripped) > _MAX_DIGITS:
            raise ValueError("not a whole number")
        value = int(stripped.partition(".")[0])
        if value < minimum or (maximum is not None and value > maximum):
            raise ValueError("out of range")
        return value

    upper = f"from {minimum} to {maximum}" if maximum is not None else f"of at least {minimum}"
    return Kind(wanted=f"a whole number {upper}", parse=parse, placeholder="N")


def number(
    minimum: float, wanted: str, placeholder: str = "SECONDS", *, maximum: float = math.inf
) -> Kind:
    """Return the kind of finite numbers from *minimum* to *maximum*, both included.

    Seconds may have their unit behind them.
    """

    def parse(text: str) -> float:
        value = _number(text.strip().removesuffix("s") if placeholder == "SECONDS" else text)
        if not minimum <= value <= maximum:
            raise ValueError("out of range")
        return value

    return Kind(wanted=wanted, parse=parse, placeholder=placeholder)


def choice(words: Sequence[str]) -> Kind:
    """Return the kind of the given lower-case *words*, however they are capitalised."""

    def parse(text: str) -> str:
        word = text.strip().lower()
        if word not in words:
            raise ValueError("unknown word")
        return word

    return Kind(wanted="one of " + ", ".join(words), parse=parse, placeholder="WORD")


def many(kind: Kind) -> Kind:
    """Return the kind of comma-separated values of *kind*, as a tuple."""

    def parse(text: str) -> tuple[Any, ...]:
        return tuple(kind.parse(part.strip()) for part in text.split(",") if part.strip())

    wanted = f"{kind.wanted}, or several separated by commas"
    return replace(kind, wanted=wanted, parse=parse)


def _switch(text: str) -> bool:
    word = text.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("neither true nor false")
    return word in _TRUE


def _bitrate(text: str) -> int:
    match = _BITRATE.fullmatch(text.strip())
    if match is None:
        raise ValueError("not a bit rate")
    value = round(float(match[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[match[2].lower()])
    if not 10_000 <= value <= 1_000_000_000:
        raise ValueError("out of range")
    return value


def _bytes(text: str) -> int:
    match = _BYTES.fullmatch(text.strip())
    if match is None or len(match[1]) > _MAX_DIGITS:
        raise ValueError("not a number of bytes")
    return round(float(match[1]) * (1 << 10 * " KMGT".index(match[2].upper() or " ")))


def bytes_text(value: int) -> str:
    """Return *value* as text that is read as it, in the largest unit that divides it."""
    for power, unit in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if value and value % (1 << 10 * power) == 0:
            return f"{value >> 10 * power} {unit}"
    return f"{value} B"


def _resolution(text: str) -> Resolution:
    match = _RESOLUTION.fullmatch(text.strip())
    if match is None or not all(16 <= int(side) <= 16384 for side in match.groups()):
        raise ValueError("not a resolution")
    return Resolution(width=int(match[1]), height=int(match[2]))


def _device(text: str) -> str:
    if not re.fullmatch(r"cpu|cuda(?::[0-9]{1,3})?", text.strip()):
        raise ValueError("unknown device")
    return text.strip()


def _host(text: str) -> str:
    if not _HOST.fullmatch(text.strip()):
        raise ValueError("not a host name or address")
    return text.strip()


def _port_range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,5})\s*-\s*([0-9]{1,5})", text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]) <= 65535:
        raise ValueError("not a range of ports")
    return int(match[1]), int(match[2])


def _address(text: str) -> str:
    return str(ipaddress.ip_address(text.strip()))


def _origin(text: str) -> str:
    stripped = text.strip().rstrip("/")
    if stripped == "*":
        return stripped
    if not re.fullmatch(r"https?://[^\s/?#@]+", stripped):
        raise ValueError("not an origin")
    return stripped


def _ice_server(text: str, schemes: tuple[str, ...]) -> str:
    """Return *text* if it is the URI of a server, without a login, of one of *schemes*."""
    match = _ICE_SERVER.fullmatch(text)
    if match is None or match["scheme"] not in schemes or not 0 < int(match["port"] or 1) < 65536:
        raise ValueError("not the address of such a server")
    if match["transport"] and (match["scheme"], match["transport"]) not in _TRANSPORTS:
        raise ValueError("there is no such transport")
    return text


def _stun(text: str) -> str:
    return _ice_server(text.strip(), ("stun", "stuns"))


def _turn(text: str) -> TurnServer:
    """Read ``turn:[user:credential@]host[:port][?transport=udp|tcp]``, the login as in any URI."""
    scheme, _, rest = text.strip().partition(":")
    login, at, place = rest.rpartition("@")
    uri = _ice_server(f"{scheme}:{place}", ("turn", "turns"))
    username, _, credential = login.partition(":")
    if at and not (username and credential and len(login.split()) == 1):
        raise ValueError("user or credential is missing")
    return TurnServer(uri=uri, username=unquote(username), credential=unquote(credential))


def _secret(text: str) -> str:
    if not text or any(character.isspace() for character in text):
        raise ValueError("empty or with spaces")
    return text


TEXT = Kind(wanted="text", parse=_text, is_text=True)
SECRET = Kind(wanted="text without spaces", parse=_secret, is_text=True)
PATH = Kind(wanted="a path", parse=_path, is_text=True, placeholder="PATH")
SWITCH = Kind(wanted="true or false", parse=_switch)
PORT = whole(0, 65535)
SECONDS = number(0.0, "a number of seconds, 0 for none")
CHUNK = number(0.1, "seconds from 0.1 to 60", maximum=60.0)
FPS = number(0.1, "frames per second, at least 0.1", "FPS")
BITRATE = Kind(
    wanted="bits per second, such as 4M, 800k or 3500000", parse=_bitrate, placeholder="BITS/S"
)
BYTES = Kind(
    wanted="a number of bytes such as 256M, 1G or 1500000", parse=_bytes, placeholder="BYTES"
)
RESOLUTION = Kind(wanted="a size such as 1280x720", parse=_resolution, placeholder="WxH")
DEVICE = Kind(wanted="cpu, cuda or cuda:<n>", parse=_device, placeholder="DEVICE")
HOST = Kind(wanted="a host name or address", parse=_host, placeholder="HOST")
ADDRESS = Kind(wanted="an IP address", parse=_address, placeholder="ADDRESS")
PORT_RANGE = Kind(
    wanted="a range of ports such as 50000-50100", parse=_port_range, placeholder="FIRST-LAST"
)
ORIGIN = Kind(
    wanted="an origin such as https://app.example, or * for any",
    parse=_origin,
    placeholder="ORIGIN",
)
STUN = Kind(wanted="an address such as stun:host:3478", parse=_stun, placeholder="URI")
TURN = Kind(
    wanted="an address such as turn:user:credential@host:3478?transport=udp, or turns: for TLS over"
    " TCP; in user and credential, write : as %3A, % as %25 and a comma as %2C",
    parse=_turn,
    has_login=True,
    placeholder="URI",
)


ISOLATION = choice(("in_process", "process"))
ON_FAILURE = choice(("keep", "exit", "restart"))
VIDEO_CODEC = choice(("h264",))
AUDIO_CODEC = choice(("aac", "opus"))
COMM_BACKEND = choice(("gloo", "nccl"))
PLAYOUT_DELAY = choice(("auto", "low", "client"))
LOG_FORMAT = choice(("text", "json"))
LOG_LEVEL = choice(("debug", "info", "warning", "error", "critical"))
