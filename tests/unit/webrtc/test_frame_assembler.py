from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.frame_assembler import FrameAssembler, WholeFrame
from reactor_runtime.webrtc.packetizer import make_packetizer
from reactor_runtime.webrtc.rtp_packet import RtpPacket

KEY, DELTA = b"\x00" + b"k" * 3000, b"\x01" + b"d" * 3000


def packets(frame: bytes, timestamp: int, *, marks: bool = True) -> list[RtpPacket]:
    payloads = make_packetizer(Codec.VP8).packetize(frame)
    last = len(payloads) - 1
    return [
        RtpPacket(96, marks and n == last, n, timestamp, 1, {}, payload)
        for n, payload in enumerate(payloads)
    ]


def feed(assembler: FrameAssembler, arriving: list[RtpPacket]) -> list[WholeFrame]:
    return [frame for packet in arriving for frame in assembler.add(packet)]


def test_a_frame_is_whole_at_its_marker() -> None:
    assert feed(FrameAssembler(Codec.VP8), packets(KEY, 1)) == [(KEY, 1)]


def test_a_frame_without_a_marker_is_whole_at_the_next_one() -> None:
    assembler = FrameAssembler(Codec.VP8)
    assert feed(assembler, packets(KEY, 1, marks=False)) == []
    assert feed(assembler, packets(DELTA, 2)) == [(KEY, 1), (DELTA, 2)]


def test_pictures_start_at_a_key_frame() -> None:
    assembler = FrameAssembler(Codec.VP8)
    assert feed(assembler, packets(DELTA, 1)) == []
    assert assembler.needs_key
    assert feed(assembler, packets(KEY, 2)) == [(KEY, 2)]
    assert not assembler.needs_key


def test_after_a_loss_pictures_wait_for_a_key_frame() -> None:
    assembler = FrameAssembler(Codec.VP8)
    feed(assembler, packets(KEY, 1))
    feed(assembler, packets(DELTA, 2)[:1])
    assembler.lose()
    assert feed(assembler, packets(DELTA, 3)) == []
    assert feed(assembler, packets(KEY, 4)) == [(KEY, 4)]
    assert assembler.dropped == 1


def test_a_broken_payload_is_a_loss() -> None:
    assembler = FrameAssembler(Codec.VP8)
    feed(assembler, packets(KEY, 1))
    assert assembler.add(RtpPacket(96, True, 9, 2, 1, {}, b"\x80")) == []
    assert assembler.needs_key


def test_every_packet_of_sound_is_a_frame() -> None:
    assembler = FrameAssembler(Codec.OPUS)
    assembler.lose()
    assert feed(assembler, [RtpPacket(111, False, 1, 7, 1, {}, b"snd")]) == [(b"snd", 7)]
    assert feed(assembler, [RtpPacket(111, False, 2, 8, 1, {}, b"")]) == []
