from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.webrtc.ntp_time import to_ntp
from reactor_runtime.webrtc.reception import Reception
from reactor_runtime.webrtc.remote_clock import RemoteClock
from reactor_runtime.webrtc.rtcp_packets import SenderReport
from reactor_runtime.webrtc.rtp_packet import RtpPacket


def packet(sequence: int, timestamp: int) -> RtpPacket:
    return RtpPacket(96, True, sequence & 0xFFFF, timestamp & 0xFFFFFFFF, 9, {}, b"x")


def test_losses_are_counted_since_the_last_report_and_in_all() -> None:
    clock = FakeClock()
    reception = Reception(9, RemoteClock(90_000, clock), clock)
    assert reception.block() is None
    for number in (0xFFFE, 0xFFFF, 0x10001, 0x10002):
        reception.note(packet(number, 0))
    block = reception.block()
    assert block is not None
    assert (block.packets_lost, block.fraction_lost) == (1, 256 // 5)
    assert block.highest_sequence == 0x10002
    reception.note(packet(0x10003, 0))
    block = reception.block()
    assert block is not None
    assert (block.packets_lost, block.fraction_lost) == (1, 0)


async def test_an_even_stream_has_no_jitter_and_an_uneven_one_has() -> None:
    clock = FakeClock()
    even, uneven = (Reception(9, RemoteClock(1000, clock), clock) for _ in range(2))
    for number in range(50):
        even.note(packet(number, number * 20))
        await clock.advance(0.010 if number % 2 else 0.0)
        uneven.note(packet(number, number * 20))
        await clock.advance(0.010 if number % 2 else 0.020)
    first, second = even.block(), uneven.block()
    assert first is not None
    assert second is not None
    assert first.jitter == 0
    assert second.jitter >= 5


def test_capture_times_are_the_senders_once_it_has_told_its_clock() -> None:
    clock = FakeClock()
    remote = RemoteClock(90_000, clock)
    assert remote.capture_time_us(2**32 - 90_000) == int(clock.wall() * 1e6)
    theirs = clock.wall() - 12.5
    remote.note_report(SenderReport(9, to_ntp(theirs), 2**32 - 90_000, 1, 1))
    later = remote.capture_time_us(45_000)  # 1.5 s later, past the wrap
    assert abs(later - (theirs + 1.5) * 1e6) < 10


def test_a_clock_that_is_hours_off_is_not_believed() -> None:
    clock = FakeClock()
    remote = RemoteClock(90_000, clock)
    remote.note_report(SenderReport(9, to_ntp(0.0), 0, 1, 1))
    assert remote.capture_time_us(0) == int(clock.wall() * 1e6)


async def test_a_report_says_how_old_the_senders_is() -> None:
    clock = FakeClock()
    remote = RemoteClock(90_000, clock)
    reception = Reception(9, remote, clock)
    reception.note(packet(1, 0))
    remote.note_report(SenderReport(9, 0x1111_2222_3333_4444, 0, 1, 1))
    await clock.advance(0.5)
    block = reception.block()
    assert block is not None
    assert (block.last_report, block.delay) == (0x2222_3333, 32_768)
