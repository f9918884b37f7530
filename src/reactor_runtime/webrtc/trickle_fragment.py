"""TrickleFragment: the piece of SDP in which WHIP and WHEP clients send candidates (RFC 8840)."""

import re
from dataclasses import dataclass

from reactor_runtime.errors import FragmentError
from reactor_runtime.webrtc.candidates import RemoteCandidate, parse_candidate

_LINE = re.compile(r"[a-z]=.+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrickleFragment:
    """One fragment.

    Attributes:
        ufrags: Every ICE user name fragment in it; another than the offer's asks for a restart.
        candidates: Those that are of use.
    """

    ufrags: frozenset[str]
    candidates: tuple[RemoteCandidate, ...]


def parse_fragment(text: str) -> TrickleFragment:
    """Read a fragment; candidates of no use are dropped, the end of candidates changes nothing.

    Raises:
        FragmentError: It is no SDP fragment.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    junk = next((line for line in lines if not _LINE.fullmatch(line)), None)
    if junk is not None or not any(line.startswith("a=") for line in lines):
        raise FragmentError("it has no attribute" if junk is None else f"cannot read {junk[:60]!r}")
    pairs = [line[2:].partition(":")[::2] for line in lines if line.startswith("a=")]
    parsed = [parse_candidate(value) for name, value in pairs if name == "candidate"]
    return TrickleFragment(
        ufrags=frozenset(value for name, value in pairs if name == "ice-ufrag"),
        candidates=tuple(candidate for candidate in parsed if candidate is not None),
    )
