from typing import Any

import pytest
from tests.unit.webrtc.offers import H264, OPUS, RTX, VP8, application, audio, offer, video
from tests.unit.webrtc.viewer import AUDIO, MIC, VIDEO, WEBCAM

from reactor_runtime.errors import OfferError
from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.negotiation import Negotiation, negotiate
from reactor_runtime.webrtc.session_answer import LocalTransport, StreamIds, render_answer
from reactor_runtime.webrtc.session_offer import parse_offer

TRACKS = [VIDEO, AUDIO, WEBCAM, MIC]


def plan(*sections: str, mapping: Any = None) -> Negotiation:
    parsed = parse_offer(offer(*sections), max_bytes=10**6, max_sections=32)
    return negotiate(parsed, mapping, TRACKS)


def entry(mid: str, name: str, kind: str = "video", direction: str = "recvonly") -> dict[str, str]:
    return {"mid": mid, "name": name, "kind": kind, "direction": direction}


def outcome(negotiation: Negotiation) -> list[tuple[str, str | None, str | None]]:
    return [
        (p.direction, p.output.name if p.output else None, p.input.name if p.input else None)
        for p in negotiation.sections
    ]


def test_tracks_travel_where_the_mapping_says() -> None:
    found = plan(
        video("0", way="sendonly"), video("1"), audio("2"), application("3"),
        mapping=[
            entry("0", "webcam", direction="sendonly"),
            entry("2", "main_audio", "audio"),
            entry("1", "main_video"),
        ],
    )  # fmt: skip
    assert outcome(found) == [
        ("recvonly", None, "webcam"),
        ("sendonly", "main_video", None),
        ("sendonly", "main_audio", None),
        ("inactive", None, None),
    ]
    assert found.data_section is not None


def test_without_a_mapping_tracks_are_taken_in_order_of_declaration() -> None:
    found = plan(audio("a", way="sendrecv"), video("b"), video("c", way="sendonly"), video("d"))
    assert outcome(found) == [
        ("sendrecv", "main_audio", "mic"),
        ("sendonly", "main_video", None),
        ("recvonly", None, "webcam"),
        ("inactive", None, None),
    ]


def test_a_client_may_take_less_than_there_is() -> None:
    found = plan(application("d"), mapping=[])
    assert outcome(found) == [("inactive", None, None)]
    assert found.sections[0].is_accepted


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ([entry("0", "other")], "no such output.*main_video, main_audio"),
        ([entry("9", "main_video")], "no media section with mid '9'"),
        ([entry("3", "main_video")], "no media section"),
        ([entry("0", "webcam")], "no such output"),
        ([entry("0", "main_audio")], "section '0' is video"),
        ([entry("0", "webcam", direction="sendonly")], "section '0' is recvonly"),
        ([entry("0", "main_video"), entry("1", "main_video")], "twice"),
        ([entry("0", "main_video"), entry("0", "main_video")], "twice"),
        ([{}], "no media section"),
    ],
)
def test_a_wrong_mapping_is_refused_with_its_reason(mapping: Any, reason: str) -> None:
    with pytest.raises(OfferError, match=reason):
        plan(video("0"), video("1"), audio("2"), application("3"), mapping=mapping)


def codec_of(codecs: str, formats: str) -> Any:
    return plan(video("0", formats=formats, codecs=codecs)).sections[0].choice


def test_vp8_is_chosen_whatever_the_client_prefers() -> None:
    choice = codec_of(H264.format(1, "42e01f") + VP8 + RTX, "102 96 97")
    assert (choice.codec, choice.payload_type, choice.rtx_payload_type) == (Codec.VP8, 96, 97)
    assert choice.feedback == ("nack", "nack pli")


@pytest.mark.parametrize("profile", ["42e01f", "42E034", "42001f"])
def test_h264_baseline_is_chosen_where_vp8_is_missing(profile: str) -> None:
    choice = codec_of(H264.format(1, profile), "102")
    assert choice.codec is Codec.H264
    assert f"profile-level-id={profile.lower()}" in choice.parameters


@pytest.mark.parametrize(("mode", "profile"), [("0", "42e01f"), ("1", "640c1f"), ("1", "4d001f")])
def test_other_forms_of_h264_are_refused(mode: str, profile: str) -> None:
    with pytest.raises(OfferError, match="no codec we have"):
        codec_of(H264.format(mode, profile), "102")


def test_a_repeat_type_belongs_to_its_own_section() -> None:
    """Chromium may use one RTX number for different codecs in different sections."""
    other = "a=rtpmap:98 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=98\r\n"
    found = plan(video("0"), video("1", way="sendonly", formats="98 97", codecs=other))
    choices = [p.choice for p in found.sections]
    assert [(c.payload_type, c.rtx_payload_type) for c in choices if c] == [(96, 97), (98, 97)]


def test_an_unmapped_section_without_our_codecs_is_rejected() -> None:
    vp9 = "a=rtpmap:100 VP9/90000\r\n"
    found = plan(
        video("0"), video("1", formats="100", codecs=vp9), mapping=[entry("0", "main_video")]
    )
    assert [p.is_accepted for p in found.sections] == [True, False]
    answer = render(found)
    assert "a=group:BUNDLE 0\r\n" in answer
    assert "m=video 0 UDP/TLS/RTP/SAVPF 100\r\n" in answer


LOCAL = LocalTransport(
    ufrag="u", password="p", candidates=["1 1 udp 1 192.0.2.1 9 typ host"],
    fingerprint="sha-256 AA", setup="active", cname="clock",
)  # fmt: skip


def render(negotiation: Negotiation) -> str:
    streams = {"0": StreamIds(ssrc=7, rtx=8)}
    return render_answer(negotiation, LOCAL, streams, max_message_bytes=262_144)


def test_an_answer_is_complete() -> None:
    extras = (
        "a=x-reactor-frame-metadata:1\r\na=x-reactor-dc-chunking:1 max-message-size=67108864\r\n"
    )
    sections = [video("0"), audio("1", codecs=OPUS), application("2") + "a=sctp-init:AAAA\r\n"]
    parsed = parse_offer(offer(*sections, extra=extras), max_bytes=10**6, max_sections=32)
    answer = render(negotiate(parsed, [entry("0", "main_video")], TRACKS))
    lines = answer.split("\r\n")
    assert [line for line in lines if line.startswith("m=")] == [
        "m=video 9 UDP/TLS/RTP/SAVPF 96 97",
        "m=audio 9 UDP/TLS/RTP/SAVPF 111",
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    ]
    assert [line for line in lines if line.startswith("a=mid:")] == [f"a=mid:{n}" for n in "012"]
    assert lines.count("a=setup:active") == 3
    assert lines.count("a=end-of-candidates") == 1
    assert "a=max-message-size:262144" in lines
    assert "a=ssrc-group:FID 7 8" in lines
    assert "a=inactive" in lines
    assert "x-reactor" not in answer
    assert "sctp-init" not in answer
    assert "toffset" not in answer
