"""Negotiation: which of the model's tracks travels in which section of an offer, and how. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from reactor_runtime.errors import OfferError
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.webrtc.session_offer import MediaSection, OfferedCodec, SessionOffer

MID_URI = "urn:ietf:params:rtp-hdrext:sdes:mid"
ABS_SEND_TIME_URI = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
PLAYOUT_DELAY_URI = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"
TRANSPORT_NUMBER_URI = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
_EXTENSION_URIS = {
    "video": (MID_URI, ABS_SEND_TIME_URI, PLAYOUT_DELAY_URI),
    "audio": (MID_URI,),
}
_VIDEO_FEEDBACK = ("nack", "nack pli", "ccm fir", "goog-remb")
_TRANSPORT_FEEDBACK = "transport-cc"  # only for what a client sends: its bitrate is its own concern
_BASELINE_PROFILES = ("42e0", "4200")  # constrained baseline, baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecChoice:
    """The one codec of a section.

    Attributes:
        codec: What it is.
        payload_type: The client's number for it.
        rtx_payload_type: For packets sent again, ``None`` when the client has none.
        parameters: The ``fmtp`` line of the answer, perhaps empty.
        feedback: The ``rtcp-fb`` lines of the answer.
    """

    codec: Codec
    payload_type: int
    rtx_payload_type: int | None
    parameters: str
    feedback: tuple[str, ...]

    @property
    def has_transport_feedback(self) -> bool:
        """Whether the client wants to be told when each of its packets arrived."""
        return _TRANSPORT_FEEDBACK in self.feedback


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPlan:
    """What becomes of one section.

    Attributes:
        section: As offered.
        is_accepted: Otherwise it is answered with port 0.
        output: The model's output track it carries to the client.
        input: The model's input track it brings.
        choice: The codec; ``None`` for data channels and rejected sections.
        extensions: Header extension URI to the client's id, as answered.
    """

    section: MediaSection
    is_accepted: bool
    output: Track | None = None
    input: Track | None = None
    choice: CodecChoice | None = None
    extensions: Mapping[str, int]

    @property
    def direction(self) -> str:
        """The direction answered, seen from the server."""
        sends, receives = self.output is not None, self.input is not None
        if sends:
            return "sendrecv" if receives else "sendonly"
        return "recvonly" if receives else "inactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Negotiation:
    """The plan for a whole offer.

    Attributes:
        offer: What was offered.
        sections: One plan per section, in order.
    """

    offer: SessionOffer
    sections: tuple[SectionPlan, ...]

    @property
    def data_section(self) -> MediaSection | None:
        """The section of the data channels, if there is one."""
        plans = (plan for plan in self.sections if plan.is_accepted)
        return next((p.section for p in plans if p.section.kind == "application"), None)


def negotiate(
    offer: SessionOffer, mapping: Sequence[Mapping[str, Any]] | None, tracks: Sequence[Track]
) -> Negotiation:
    """Decide what travels where.

    *mapping* names tracks by mid, in the client's view of direction; without one, tracks are taken
    in the order of declaration, per kind.

    Raises:
        OfferError: The mapping names what is not there or goes the wrong way, or a mapped section
            offers no codec we have.
    """
    outputs: dict[str, Track] = {}
    inputs: dict[str, Track] = {}
    if mapping:
        for entry in mapping:
            _map_entry(entry, offer, tracks, outputs=outputs, inputs=inputs)
    else:
        outputs = _by_order(offer, tracks, TrackDirection.OUT, ("recvonly", "sendrecv"))
        inputs = _by_order(offer, tracks, TrackDirection.IN, ("sendonly", "sendrecv"))
    plans = [_plan(section, offer, outputs, inputs) for section in offer.sections]
    if not any(plan.is_accepted for plan in plans):
        raise OfferError("there is nothing in it that could be answered")
    return Negotiation(offer=offer, sections=tuple(plans))


def _map_entry(
    entry: Mapping[str, Any],
    offer: SessionOffer,
    tracks: Sequence[Track],
    *,
    outputs: dict[str, Track],
    inputs: dict[str, Track],
) -> None:
    name, mid = str(entry.get("name", "")), str(entry.get("mid", ""))

    def refuse(reason: str) -> NoReturn:
        raise OfferError(f"track_mapping of {name[:64]!r}: {reason}")

    section = next((s for s in offer.sections if s.mid == mid and s.kind != "application"), None)
    if section is None:
        refuse(f"there is no media section with mid {mid[:64]!r}")
    receives = entry.get("direction", section.direction) in ("recvonly", "sendrecv")
    wanted = TrackDirection.OUT if receives else TrackDirection.IN
    track = next((t for t in tracks if t.name == name and t.direction is wanted), None)
    if track is None:
        known = ", ".join(t.name for t in tracks if t.direction is wanted) or "none"
        refuse(f"the model has no such {'output' if receives else 'input'} (it has {known})")
    if str(track.kind) != section.kind:
        refuse(f"section {mid!r} is {section.kind}, the track is {track.kind}")
    if section.direction not in ("sendrecv", "recvonly" if receives else "sendonly"):
        refuse(f"section {mid!r} is {section.direction}")
    target = outputs if receives else inputs
    if mid in target or track in target.values():
        refuse("mapped twice")
    target[mid] = track


def _by_order(
    offer: SessionOffer,
    tracks: Sequence[Track],
    direction: TrackDirection,
    offered: Sequence[str],
) -> dict[str, Track]:
    found: dict[str, Track] = {}
    for kind in TrackKind:
        own = [t for t in tracks if t.kind is kind and t.direction is direction]
        places = [s for s in offer.sections if s.kind == kind and s.direction in offered]
        found.update(zip((s.mid for s in places if not s.is_rejected), own, strict=False))
    return found


def _plan(
    section: MediaSection,
    offer: SessionOffer,
    outputs: Mapping[str, Track],
    inputs: Mapping[str, Track],
) -> SectionPlan:
    in_bundle = section.mid in offer.bundle and not section.is_rejected
    if section.kind == "application":
        is_sctp = "SCTP" in section.protocol and "webrtc-datachannel" in section.formats
        return SectionPlan(section=section, is_accepted=in_bundle and is_sctp, extensions={})
    output, source = outputs.get(section.mid), inputs.get(section.mid)
    choice = _choose(section, brings=source is not None) if in_bundle else None
    if choice is None and (output or source):
        names = ", ".join(sorted({codec.name for codec in section.codecs})) or "none"
        raise OfferError(
            f"section {section.mid!r} offers no codec we have (it offers {names[:200]}; "
            "wanted: VP8 or H264 baseline for video, opus for audio)"
        )
    if choice is None:
        return SectionPlan(section=section, is_accepted=False, extensions={})
    known: tuple[str, ...] = _EXTENSION_URIS[section.kind]
    if source is not None and choice.has_transport_feedback:
        known += (TRANSPORT_NUMBER_URI,)
    return SectionPlan(
        section=section,
        is_accepted=True,
        output=output,
        input=source,
        choice=choice,
        extensions={uri: id_ for uri, id_ in section.extensions.items() if uri in known},
    )


def _choose(section: MediaSection, *, brings: bool) -> CodecChoice | None:
    for codec, accepts in _ACCEPTED[TrackKind(section.kind)]:
        for offered in section.codecs:
            if accepts(offered):
                return _choice(codec, offered, section.codecs, brings=brings)
    return None


def _choice(
    codec: Codec, offered: OfferedCodec, codecs: Sequence[OfferedCodec], *, brings: bool
) -> CodecChoice:
    wanted: tuple[str, ...] = _VIDEO_FEEDBACK if codec.is_video else ()
    if brings and _TRANSPORT_FEEDBACK in offered.feedback:
        wanted = (*(form for form in wanted if form != "goog-remb"), _TRANSPORT_FEEDBACK)
    rtx = (c for c in codecs if c.name.lower() == "rtx")
    repeats = (c for c in rtx if c.parameters.get("apt") == str(offered.payload_type))
    return CodecChoice(
        codec=codec,
        payload_type=offered.payload_type,
        rtx_payload_type=next((c.payload_type for c in repeats), None) if codec.is_video else None,
        parameters=_parameters(codec, offered),
        feedback=tuple(form for form in wanted if form in offered.feedback),
    )


def _parameters(codec: Codec, offered: OfferedCodec) -> str:
    if codec is Codec.OPUS:
        return "minptime=10;useinbandfec=1"
    if codec is Codec.H264:
        profile = offered.parameters.get("profile-level-id", "42e01f").lower()
        return f"level-asymmetry-allowed=1;packetization-mode=1;profile-level-id={profile}"
    return ""


def _is_vp8(codec: OfferedCodec) -> bool:
    return codec.name.upper() == "VP8"


def _is_baseline(codec: OfferedCodec, profile: str) -> bool:
    own = codec.parameters.get("profile-level-id", "42e01f").lower()
    mode = codec.parameters.get("packetization-mode", "0")
    return codec.name.upper() == "H264" and mode == "1" and own.startswith(profile)


def _is_opus(codec: OfferedCodec) -> bool:
    return codec.name.lower() == "opus" and codec.clock_rate == Codec.OPUS.clock_rate


_ACCEPTED = {
    TrackKind.VIDEO: (
        (Codec.VP8, _is_vp8),
        (Codec.H264, lambda codec: _is_baseline(codec, _BASELINE_PROFILES[0])),
        (Codec.H264, lambda codec: _is_baseline(codec, _BASELINE_PROFILES[1])),
    ),
    TrackKind.AUDIO: ((Codec.OPUS, _is_opus),),
}
