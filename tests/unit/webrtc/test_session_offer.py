import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.webrtc.offers import HEAD, KEYS, PRINT, TRUST, application, audio, offer, video

from reactor_runtime.errors import OfferError
from reactor_runtime.webrtc.session_offer import SessionOffer, parse_offer


def parse(sdp: str) -> SessionOffer:
    return parse_offer(sdp, max_bytes=256 * 1024, max_sections=32)


def test_what_an_answer_needs_is_read() -> None:
    lines = (
        "a=candidate:1 1 udp 1 192.0.2.7 9 typ host\r\na=ssrc-group:FID 7 8\r\na=ssrc:7 cname:x\r\n"
    )
    found = parse(offer(video("v") + lines, audio("a"), application("d", size=1000)))
    picture, sound, messages = found.sections
    assert [s.kind for s in found.sections] == ["video", "audio", "application"]
    assert found.bundle == ("v", "a", "d")
    assert (found.transport.ufrag, found.transport.setup) == ("abcd", "actpass")
    assert found.transport.fingerprints == (("sha-256", PRINT),)
    assert picture.direction == "recvonly"
    assert [codec.name for codec in picture.codecs] == ["VP8", "rtx"]
    assert picture.codecs[0].feedback == {"nack", "nack pli"}
    assert picture.extensions["urn:ietf:params:rtp-hdrext:sdes:mid"] == 4
    assert picture.extensions["http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"] == 5
    assert picture.ssrcs == (7, 8)
    assert found.candidates == ["1 1 udp 1 192.0.2.7 9 typ host"]
    assert (sound.codecs[0].channels, sound.codecs[0].clock_rate) == (2, 48_000)
    assert (messages.max_message_bytes, messages.sctp_port) == (1000, 5000)


def test_keys_may_stand_in_the_session() -> None:
    bare = application("d").replace(KEYS, "").replace(TRUST, "")
    assert parse(offer(bare, extra=KEYS + TRUST + "a=ice-lite\r\n")).transport.is_lite


def test_one_section_needs_no_bundle_and_no_mid() -> None:
    lone = application("d").replace("a=mid:d\r\n", "")
    assert parse(HEAD + lone).bundle == ("0",)


def test_a_message_size_is_assumed_when_none_is_given() -> None:
    assert parse(offer(application("d"))).sections[0].max_message_bytes == 65536


@pytest.mark.parametrize(
    ("sdp", "reason"),
    [
        ("", "v=0"),
        ("hello", "v=0"),
        (HEAD, "0 media sections"),
        (offer(*[video(str(n)) for n in range(33)]), "33 media sections"),
        (offer(video("a")) + "a=x:" + "y" * 300_000, "larger than 262144 bytes"),
        (offer(video("a"), video("a")), "used twice"),
        (offer(video("a").replace(KEYS, "")), "ice-ufrag"),
        (offer(video("a").replace("abcd", "a b")), "ice-ufrag"),
        (offer(video("a").replace("0123456789012345678901", "short")), "ice-pwd"),
        (offer(video("a").replace(TRUST, "")), "fingerprint"),
        (offer(video("a").replace("sha-256", "md5")), "sha-256"),
        (offer(video("a").replace(PRINT, "zz:zz")), "malformed"),
        (offer(video("a").replace("setup:actpass", "setup:later")), "setup"),
        (offer(video("a").replace("a=rtcp-mux\r\n", "")), "rtcp-mux"),
        (offer(video("a").replace("m=video 9", "m=text 9")), "cannot read"),
        (offer(video("a").replace("m=video 9", "m=video x")), "cannot read"),
        (offer(video("a"), video("b"), bundle="none"), "BUNDLE"),
        (offer(video("a").replace("m=video 9", "m=video 0")), "every section is rejected"),
        (offer(application("d", size=10**15)), "max-message-size"),
    ],
)
def test_a_bad_offer_is_refused_with_its_reason(sdp: str, reason: str) -> None:
    with pytest.raises(OfferError, match=reason):
        parse(sdp)


WHOLE = offer(video("v"), audio("a"), application("d"))


@given(st.integers(0, len(WHOLE)), st.integers(0, 40), st.text(max_size=30))
def test_damage_is_an_offer_error_or_harmless(at: int, cut: int, filling: str) -> None:
    with contextlib.suppress(OfferError):
        parse(WHOLE[:at] + filling + WHOLE[at + cut :])


@given(st.text(max_size=300))
def test_junk_is_an_offer_error(text: str) -> None:
    with pytest.raises(OfferError):
        parse(text)


@given(st.lists(st.text(max_size=60), max_size=12))
def test_junk_lines_are_an_offer_error_or_harmless(lines: list[str]) -> None:
    with contextlib.suppress(OfferError):
        parse(offer(video("v")) + "".join(f"a={line}\r\n" for line in lines))
