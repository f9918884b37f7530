import struct

from tests.unit.webrtc.offers import offer, video
from tests.unit.webrtc.viewer import VIDEO

from reactor_runtime.webrtc.broadcast import PacketizedFrame
from reactor_runtime.webrtc.negotiation import SectionPlan, negotiate
from reactor_runtime.webrtc.rtp_packet import parse_rtp
from reactor_runtime.webrtc.rtp_stream import RtpStream
from reactor_runtime.webrtc.session_offer import parse_offer

STAMP = "a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"


def plan(section: str = video("mid7") + STAMP) -> SectionPlan:
    parsed = parse_offer(offer(section), max_bytes=10**6, max_sections=4)
    return negotiate(parsed, None, [VIDEO]).sections[0]


def picture(*payloads: bytes, timestamp: int = 90_000, is_key: bool = True) -> PacketizedFrame:
    size = sum(map(len, payloads))
    return PacketizedFrame(
        payloads=payloads, timestamp=timestamp, presented_at=0.0, is_key=is_key, size_bytes=size
    )


def test_packets_are_numbered_without_gaps_and_marked_at_the_end() -> None:
    stream = RtpStream(plan())
    first = [parse_rtp(p) for p in stream.packets(picture(b"a", b"b"), 1.0)]
    second = [parse_rtp(p) for p in stream.packets(picture(b"c", timestamp=93_000), 1.0)]
    start = first[0].sequence
    assert [p.sequence for p in first + second] == [start, start + 1, start + 2]
    assert [p.marker for p in first + second] == [False, True, True]
    assert [p.payload for p in first + second] == [b"a", b"b", b"c"]
    assert {p.ssrc for p in first + second} == {stream.ids.ssrc}
    assert second[0].timestamp == 93_000


def test_extensions_go_under_the_clients_numbers() -> None:
    stream = RtpStream(plan())
    [packet] = stream.packets(picture(b"a"), 2.5)
    assert parse_rtp(packet).extensions == {4: b"mid7", 3: (5 << 17).to_bytes(3, "big")}
    stream.show_at_once()
    [packet] = stream.packets(picture(b"a"), 2.5)
    assert parse_rtp(packet).extensions[5] == b"\0\0\0"


def test_without_extensions_there_is_no_block() -> None:
    bare = "\r\n".join(line for line in video("0").split("\r\n") if "extmap" not in line)
    [packet] = RtpStream(plan(bare)).packets(picture(b"a"), 1.0)
    assert packet[0] == 0x80
    assert len(packet) == 13


def test_a_lost_packet_is_sent_again_in_the_repeat_stream() -> None:
    stream = RtpStream(plan())
    sent = [parse_rtp(p) for p in stream.packets(picture(b"a", b"b"), 1.0)]
    stream.packets(picture(b"c"), 1.0)
    again = stream.repeat(sent[1].sequence, 1.0)
    assert again is not None
    parsed = parse_rtp(again)
    assert (parsed.ssrc, parsed.payload_type) == (stream.ids.rtx, 97)
    assert parsed.payload == struct.pack("!H", sent[1].sequence) + b"b"
    assert (parsed.timestamp, parsed.marker) == (90_000, True)


def test_without_a_repeat_stream_it_is_sent_as_it_was() -> None:
    codecs = "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\n"
    stream = RtpStream(plan(video("0", formats="96", codecs=codecs)))
    [packet] = stream.packets(picture(b"a"), 1.0)
    assert stream.repeat(parse_rtp(packet).sequence, 1.0) == packet


def test_what_is_too_old_or_too_much_is_not_repeated() -> None:
    stream = RtpStream(plan())
    old = parse_rtp(stream.packets(picture(b"old"), 1.0)[0]).sequence
    for _ in range(64):
        newest = parse_rtp(stream.packets(picture(b"new"), 1.0)[0]).sequence
    assert stream.repeat(old, 1.0) is None
    assert stream.repeat(newest + 1, 1.0) is None
    granted = sum(stream.repeat(newest, 5.0) is not None for _ in range(2000))
    assert granted == 400
    assert stream.repeat(newest, 6.5) is not None


def test_what_is_on_its_way_is_not_repeated_again() -> None:
    stream = RtpStream(plan())
    lost = parse_rtp(stream.packets(picture(b"a"), 1.0)[0]).sequence
    asked_at = [1.1, 1.2, 1.3, 1.4, 1.5]
    assert [stream.repeat(lost, at, 0.25) is not None for at in asked_at] == [
        True, False, False, True, False,
    ]  # fmt: skip
    assert stream.repeat(lost, 1.51) is not None  # without a round trip nothing is held back


def test_who_lacks_what_is_forgotten_can_only_go_on_at_a_key_frame() -> None:
    stream = RtpStream(plan())
    assert not stream.breaks_off_at(7)
    delta = picture(b"x", is_key=False)
    lost = [parse_rtp(stream.packets(delta, 1.0)[0]).sequence for _ in range(65)]
    assert stream.breaks_off_at(lost[0])
    assert not stream.breaks_off_at(lost[1])
    assert not stream.breaks_off_at((lost[-1] + 1) & 0xFFFF)
    stream.packets(picture(b"key"), 1.0)
    assert not stream.breaks_off_at(lost[0])  # it has gone on there


def test_so_many_lost_packets_are_looked_for_in_a_second() -> None:
    stream = RtpStream(plan())
    assert stream.worth_a_look(range(1500), 7.0) == range(1500)
    assert stream.worth_a_look(range(1500), 7.5) == range(500)
    assert stream.worth_a_look(range(1500), 7.9) == range(0)
    assert stream.worth_a_look(range(1500), 8.1) == range(1500)
