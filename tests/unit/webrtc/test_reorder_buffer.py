import random

from reactor_runtime.webrtc.reorder_buffer import ReorderBuffer
from reactor_runtime.webrtc.rtp_packet import RtpPacket


def packet(sequence: int) -> RtpPacket:
    return RtpPacket(96, False, sequence & 0xFFFF, 0, 1, {}, b"x")


def feed(buffer: ReorderBuffer, numbers: list[int], now: float = 0.0) -> list[tuple[bool, int]]:
    return [
        (is_gap, released.sequence)
        for number in numbers
        for is_gap, released in buffer.add(packet(number), now)
    ]


def test_packets_leave_in_order_across_the_wrap() -> None:
    buffer = ReorderBuffer(patience_s=1, capacity=64)
    numbers = list(range(0xFFF0, 0x10010))
    shuffled = numbers[:1] + [n for i in range(1, 32, 4) for n in reversed(numbers[i : i + 4])]
    assert [n for _, n in feed(buffer, shuffled)] == [n & 0xFFFF for n in numbers]


def test_repeats_and_late_packets_are_dropped() -> None:
    buffer = ReorderBuffer(patience_s=1, capacity=64)
    assert feed(buffer, [5, 6, 6, 5, 7]) == [(False, 5), (False, 6), (False, 7)]


def test_a_gap_is_waited_for_then_passed() -> None:
    buffer = ReorderBuffer(patience_s=0.25, capacity=64)
    assert feed(buffer, [1, 3, 4], 0.0) == [(False, 1)]
    assert feed(buffer, [5], 0.2) == []
    assert feed(buffer, [6], 0.3) == [(True, 3), (False, 4), (False, 5), (False, 6)]


def test_a_full_buffer_does_not_wait() -> None:
    buffer = ReorderBuffer(patience_s=9, capacity=4)
    assert feed(buffer, [1, 3, 4, 5, 6])[1:] == [(True, 3), (False, 4), (False, 5), (False, 6)]


def test_missing_packets_are_asked_for_and_asked_again() -> None:
    buffer = ReorderBuffer(patience_s=1, capacity=64)
    feed(buffer, [1, 4], 1.0)
    assert buffer.to_ask(1.0) == [2, 3]
    assert buffer.to_ask(1.01) == []
    feed(buffer, [2], 1.05)
    assert buffer.to_ask(1.1) == [3]
    feed(buffer, [3], 1.2)
    assert buffer.to_ask(1.3) == []


def test_so_much_may_be_missing_that_asking_is_no_use() -> None:
    buffer = ReorderBuffer(patience_s=1, capacity=512)
    feed(buffer, [1, 400])
    assert buffer.to_ask(0.1) is None
    assert buffer.to_ask(0.2) == []


def test_a_sender_that_begins_anew_is_followed() -> None:
    buffer = ReorderBuffer(patience_s=1, capacity=16)
    feed(buffer, [1, 2, 3])
    assert feed(buffer, [30_000, 30_001]) == [(False, 30_000), (False, 30_001)]


def test_any_order_loses_nothing_that_arrives_in_time() -> None:
    order = random.Random(3)
    for _ in range(50):
        buffer = ReorderBuffer(patience_s=1, capacity=64)
        numbers = list(range(100, 160))
        jittered = sorted(numbers[1:], key=lambda n: n + order.uniform(0, 12))
        assert [n for _, n in feed(buffer, [100, *jittered])] == numbers
