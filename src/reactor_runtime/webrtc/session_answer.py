"""The SDP answer to a negotiated offer, complete with every candidate. Pure."""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.negotiation import Negotiation, SectionPlan

_RTPMAPS = {Codec.VP8: "VP8/90000", Codec.H264: "H264/90000", Codec.OPUS: "opus/48000/2"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamIds:
    """The SSRCs of one outbound stream; *rtx* is for packets sent again."""

    ssrc: int
    rtx: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalTransport:
    """How the peer reaches and recognises us.

    Attributes:
        ufrag: ICE user name fragment.
        password: ICE password.
        candidates: Values of the ``a=candidate`` lines.
        fingerprint: ``sha-256 AB:…`` of our certificate.
        setup: ``active`` or ``passive``.
        cname: Names our clock; the same for all streams of the connection.
    """

    ufrag: str
    password: str
    candidates: Sequence[str]
    fingerprint: str
    setup: str
    cname: str


def render_answer(
    negotiation: Negotiation,
    transport: LocalTransport,
    streams: Mapping[str, StreamIds],
    *,
    max_message_bytes: int,
) -> str:
    """Return the answer. *streams* has the ids of the output in each section, by mid."""
    accepted = [plan.section.mid for plan in negotiation.sections if plan.is_accepted]
    lines = [
        "v=0",
        f"o=- {secrets.randbits(62)} 2 IN IP4 127.0.0.1",
        "s=-",
        "t=0 0",
        f"a=group:BUNDLE {' '.join(accepted)}",
        "a=msid-semantic: WMS *",
    ]
    for plan in negotiation.sections:
        if not plan.is_accepted:
            lines += _rejected(plan)
            continue
        candidates = transport.candidates if plan.section.mid == accepted[0] else ()
        lines += _opening(plan)
        lines += _transport(transport, candidates)
        if plan.choice is None:
            lines += ["a=sctp-port:5000", f"a=max-message-size:{max_message_bytes}"]
        else:
            lines += _media(plan, transport.cname, streams.get(plan.section.mid))
    return "\r\n".join(lines) + "\r\n"


def _rejected(plan: SectionPlan) -> Iterator[str]:
    section = plan.section
    yield f"m={section.kind} 0 {section.protocol} {' '.join(section.formats)}"
    yield "c=IN IP4 0.0.0.0"
    yield f"a=mid:{section.mid}"
    yield "a=inactive"


def _opening(plan: SectionPlan) -> Iterator[str]:
    section, choice = plan.section, plan.choice
    if choice is None:
        formats = ["webrtc-datachannel"]
    else:
        rtx = choice.rtx_payload_type
        formats = [str(choice.payload_type), *([] if rtx is None else [str(rtx)])]
    yield f"m={section.kind} 9 {section.protocol} {' '.join(formats)}"
    yield "c=IN IP4 0.0.0.0"
    yield f"a=mid:{section.mid}"


def _transport(transport: LocalTransport, candidates: Sequence[str]) -> Iterator[str]:
    for candidate in candidates:
        yield f"a=candidate:{candidate}"
    if candidates:
        yield "a=end-of-candidates"
    yield f"a=ice-ufrag:{transport.ufrag}"
    yield f"a=ice-pwd:{transport.password}"
    yield f"a=fingerprint:{transport.fingerprint}"
    yield f"a=setup:{transport.setup}"


def _media(plan: SectionPlan, cname: str, stream: StreamIds | None) -> Iterator[str]:
    yield f"a={plan.direction}"
    yield "a=rtcp:9 IN IP4 0.0.0.0"
    yield "a=rtcp-mux"
    yield "a=rtcp-rsize"
    for uri, number in sorted(plan.extensions.items(), key=lambda item: item[1]):
        yield f"a=extmap:{number} {uri}"
    yield from _codec(plan)
    if plan.output is not None and stream is not None:
        yield f"a=msid:reactor {plan.output.name}"
        if stream.rtx is not None:
            yield f"a=ssrc-group:FID {stream.ssrc} {stream.rtx}"
            yield f"a=ssrc:{stream.ssrc} cname:{cname}"
            yield f"a=ssrc:{stream.rtx} cname:{cname}"
        else:
            yield f"a=ssrc:{stream.ssrc} cname:{cname}"


def _codec(plan: SectionPlan) -> Iterator[str]:
    choice = plan.choice
    assert choice is not None
    number = choice.payload_type
    yield f"a=rtpmap:{number} {_RTPMAPS[choice.codec]}"
    if choice.parameters:
        yield f"a=fmtp:{number} {choice.parameters}"
    for form in choice.feedback:
        yield f"a=rtcp-fb:{number} {form}"
    if choice.rtx_payload_type is not None:
        yield f"a=rtpmap:{choice.rtx_payload_type} rtx/90000"
        yield f"a=fmtp:{choice.rtx_payload_type} apt={number}"
