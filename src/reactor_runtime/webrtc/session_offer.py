"""SessionOffer: what a client's SDP offer says, read strictly and as a whole before anything runs.

Only what an answer needs is read; every other line is ignored, as RFC 8866 asks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from reactor_runtime.errors import OfferError

FINGERPRINT_HASHES = ("sha-256", "sha-384", "sha-512")
_KINDS = ("audio", "video", "application")
_DIRECTIONS = ("sendrecv", "sendonly", "recvonly", "inactive")
_SETUPS = ("actpass", "active", "passive")
_MID = re.compile(r"[!-~]{1,64}")
_UFRAG = re.compile(r"[A-Za-z0-9+/\-_=]{4,256}")
_PASSWORD = re.compile(r"[A-Za-z0-9+/\-_=]{22,256}")
_FINGERPRINT = re.compile(r"(?:[0-9A-Fa-f]{2}:){19,63}[0-9A-Fa-f]{2}")
_RTPMAP = re.compile(r"(\d{1,3}) ([^/ ]+)/(\d{1,6})(?:/(\d{1,2}))?")
_DEFAULT_MESSAGE_BYTES = 65536  # RFC 8841, when the offer does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedCodec:
    """One payload type of a section.

    Attributes:
        payload_type: Its number in this section.
        name: ``VP8``, ``rtx``, ``opus`` … as written.
        clock_rate: Hz.
        channels: For sound.
        parameters: The ``fmtp`` line, taken apart.
        feedback: ``nack``, ``nack pli`` ….
    """

    payload_type: int
    name: str
    clock_rate: int
    channels: int
    parameters: Mapping[str, str]
    feedback: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportOffer:
    """How the peer is reached and recognised.

    Attributes:
        ufrag: ICE user name fragment.
        password: ICE password.
        is_lite: The peer only answers checks.
        fingerprints: (hash, value) of its certificate; at least one of a hash we know.
        setup: ``actpass``, ``active`` or ``passive``.
    """

    ufrag: str
    password: str
    is_lite: bool
    fingerprints: tuple[tuple[str, str], ...]
    setup: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSection:
    """One media section.

    Attributes:
        mid: Its identifier.
        kind: ``audio``, ``video`` or ``application``.
        protocol: As on the ``m=`` line.
        formats: As on the ``m=`` line.
        is_rejected: The client does not want it (port 0 outside a bundle).
        direction: Seen from the client.
        codecs: In the client's order of preference.
        extensions: Header extension URI to its id.
        ssrcs: Streams the client announces, the main one first.
        candidates: The values of its ``a=candidate`` lines.
        sctp_port: For data channels.
        max_message_bytes: For data channels; 0 means any size.
    """

    mid: str
    kind: str
    protocol: str
    formats: tuple[str, ...]
    is_rejected: bool
    direction: str
    codecs: tuple[OfferedCodec, ...]
    extensions: Mapping[str, int]
    ssrcs: tuple[int, ...]
    candidates: tuple[str, ...]
    sctp_port: int
    max_message_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOffer:
    """A whole offer.

    Attributes:
        sections: In order.
        bundle: Mids that share one transport.
        transport: That of the bundle.
    """

    sections: tuple[MediaSection, ...]
    bundle: tuple[str, ...]
    transport: TransportOffer

    @property
    def candidates(self) -> list[str]:
        """The candidates of all sections, without ``candidate:``."""
        return [line for section in self.sections for line in section.candidates]


class _Attributes:
    """The ``a=`` lines of the session or of one section, on top of the session's."""

    def __init__(self, lines: Sequence[str], where: str) -> None:
        self.where = where
        self.values: dict[str, list[str]] = {}
        for line in lines:
            if line.startswith("a="):
                name, _, value = line[2:].partition(":")
                self.values.setdefault(name, []).append(value.strip())

    def all(self, name: str) -> list[str]:
        return self.values.get(name, [])

    def first(self, name: str) -> str | None:
        return next(iter(self.all(name)), None)

    def number(self, name: str, default: int, largest: int = 2**31) -> int:
        text = self.first(name)
        if text is None:
            return default
        if not text.isdecimal() or int(text) > largest:
            self.refuse(f"a={name} is not a number: {text[:40]!r}")
        return int(text)

    def refuse(self, reason: str) -> NoReturn:
        raise OfferError(f"{self.where}: {reason}")


def parse_offer(sdp: str, *, max_bytes: int, max_sections: int) -> SessionOffer:
    """Read *sdp*.

    Raises:
        OfferError: It is too large, is no SDP, or lacks what a connection needs.
    """
    if len(sdp.encode(errors="replace")) > max_bytes:
        raise OfferError(f"larger than {max_bytes} bytes")
    if not sdp.startswith("v=0"):
        raise OfferError("it does not begin with v=0")
    blocks = list(_blocks(sdp))
    if not 1 < len(blocks) <= max_sections + 1:
        raise OfferError(f"{len(blocks) - 1} media sections; 1 to {max_sections} are allowed")
    session = _Attributes(blocks[0], "session")
    sections, transports = [], {}
    for index, lines in enumerate(blocks[1:]):
        attributes = _Attributes(lines, f"section {index}")
        section = _section(lines[0], attributes, index)
        if section.mid in transports:
            attributes.refuse(f"mid {section.mid!r} is used twice")
        transports[section.mid] = attributes
        sections.append(section)
    bundle = _bundle(session, sections)
    return SessionOffer(
        sections=tuple(sections),
        bundle=bundle,
        transport=_transport(session, transports[bundle[0]]),
    )


def _blocks(sdp: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in sdp.splitlines():
        if line.startswith("m="):
            yield block
            block = []
        block.append(line)
    yield block


def _bundle(session: _Attributes, sections: Sequence[MediaSection]) -> tuple[str, ...]:
    known = [section.mid for section in sections if not section.is_rejected]
    if not known:
        session.refuse("every section is rejected")
    for value in session.all("group"):
        semantics, *mids = value.split()
        if semantics == "BUNDLE" and (bundle := tuple(mid for mid in mids if mid in known)):
            return bundle
    if len(known) > 1:
        session.refuse("BUNDLE is needed for more than one section")
    return (known[0],)


def _section(line: str, attributes: _Attributes, index: int) -> MediaSection:
    kind, port, protocol, *formats = [*line[2:].split(), "", "", ""]
    formats = [value for value in formats if value]
    if kind not in _KINDS or not port.isdecimal() or not formats:
        attributes.refuse(f"cannot read {line[:60]!r}")
    mid = attributes.first("mid") or str(index)
    if not _MID.fullmatch(mid):
        attributes.refuse("the mid is not a token of 1 to 64 characters")
    is_rejected = int(port) == 0 and "bundle-only" not in attributes.values
    if kind != "application" and not is_rejected and "rtcp-mux" not in attributes.values:
        attributes.refuse("a=rtcp-mux is needed")
    return MediaSection(
        mid=mid,
        kind=kind,
        protocol=protocol,
        formats=tuple(formats),
        is_rejected=is_rejected,
        direction=next((way for way in _DIRECTIONS if way in attributes.values), "sendrecv"),
        codecs=tuple(_codecs(formats, attributes)),
        extensions=_extensions(attributes),
        ssrcs=_ssrcs(attributes),
        candidates=tuple(attributes.all("candidate")),
        sctp_port=attributes.number("sctp-port", 5000, 65535),
        max_message_bytes=attributes.number("max-message-size", _DEFAULT_MESSAGE_BYTES, 2**40),
    )


def _codecs(formats: Sequence[str], attributes: _Attributes) -> Iterator[OfferedCodec]:
    maps = {
        found[1]: found
        for value in attributes.all("rtpmap")
        if (found := _RTPMAP.fullmatch(value)) is not None
    }
    parameters = dict(value.split(" ", 1) for value in attributes.all("fmtp") if " " in value)
    feedback: dict[str, set[str]] = {}
    for value in attributes.all("rtcp-fb"):
        number, _, form = value.partition(" ")
        feedback.setdefault(number, set()).add(form)
    for number in formats:
        if number in maps and int(number) < 128:
            yield OfferedCodec(
                payload_type=int(number),
                name=maps[number][2],
                clock_rate=int(maps[number][3]),
                channels=int(maps[number][4] or 1),
                parameters=_parameters(parameters.get(number, "")),
                feedback=frozenset(feedback.get(number, set()) | feedback.get("*", set())),
            )


def _parameters(text: str) -> Mapping[str, str]:
    pairs = (part.strip().partition("=") for part in text.split(";") if part.strip())
    return {name.lower(): value for name, _, value in pairs}


def _extensions(attributes: _Attributes) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for value in attributes.all("extmap"):
        number, _, rest = value.partition(" ")
        number = number.partition("/")[0]
        uri = rest.split(" ")[0]
        if number.isdecimal() and 0 < int(number) < 256:
            found.setdefault(uri, int(number))
    return found


def _ssrcs(attributes: _Attributes) -> tuple[int, ...]:
    found: dict[int, None] = {}
    groups = [value.split()[1:] for value in attributes.all("ssrc-group")]
    lines = [value.split()[:1] for value in attributes.all("ssrc")]
    for text in (number for numbers in [*groups, *lines] for number in numbers):
        if text.isdecimal() and int(text) < 2**32:
            found[int(text)] = None
    return tuple(found)[:16]


def _transport(session: _Attributes, section: _Attributes) -> TransportOffer:
    def value(name: str) -> str | None:
        own = section.first(name)
        return own if own is not None else session.first(name)

    ufrag, password = value("ice-ufrag") or "", value("ice-pwd") or ""
    if not _UFRAG.fullmatch(ufrag) or not _PASSWORD.fullmatch(password):
        section.refuse("a=ice-ufrag or a=ice-pwd is missing or malformed")
    lines = [*section.all("fingerprint"), *session.all("fingerprint")]
    pairs = [(name.lower(), text.strip()) for name, _, text in (x.partition(" ") for x in lines)]
    if not all(_FINGERPRINT.fullmatch(text) for _, text in pairs):
        section.refuse("a=fingerprint is malformed")
    if not any(name in FINGERPRINT_HASHES for name, _ in pairs):
        section.refuse(f"a=fingerprint with one of {', '.join(FINGERPRINT_HASHES)} is needed")
    setup = value("setup") or "actpass"
    if setup not in _SETUPS:
        section.refuse(f"a=setup:{setup[:20]} is unknown")
    return TransportOffer(
        ufrag=ufrag,
        password=password,
        is_lite="ice-lite" in session.values,
        fingerprints=tuple(pairs),
        setup=setup,
    )
