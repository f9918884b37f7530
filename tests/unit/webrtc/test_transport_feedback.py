import struct

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.webrtc.offers import offer, video
from tests.unit.webrtc.viewer import VIDEO, WEBCAM

from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.webrtc.negotiation import TRANSPORT_NUMBER_URI, negotiate
from reactor_runtime.webrtc.session_offer import parse_offer
from reactor_runtime.webrtc.transport_feedback import TransportFeedback


def read(message: bytes) -> tuple[int, dict[int, int | None]]:
    """Return a message's counter and what it says: number to arrival in ticks, or ``None``."""
    assert message[:2] == bytes([0x80 | 15, 205])
    assert len(message) == 4 * (struct.unpack_from("!H", message, 2)[0] + 1)
    base, count = struct.unpack_from("!HH", message, 12)
    reference = int.from_bytes(message[16:19], "big")
    statuses: list[int] = []
    at = 20
    while len(statuses) < count:
        (chunk,) = struct.unpack_from("!H", message, at)
        at += 2
        if chunk >> 15:
            assert chunk >> 14 == 3
            statuses += [chunk >> 2 * (6 - place) & 3 for place in range(7)]
        else:
            statuses += [chunk >> 13] * (chunk & 0x1FFF)
    found: dict[int, int | None] = {}
    ticks = reference * 256
    for place, status in enumerate(statuses[:count]):
        number = base + place & 0xFFFF
        found[number] = None
        if status:
            form = "!B" if status == 1 else "!h"
            ticks += struct.unpack_from(form, message, at)[0]
            at += struct.calcsize(form)
            found[number] = ticks
    return message[19], found


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0.0, 0.2)), min_size=1, max_size=300),
    st.integers(0, 0xFFFF),
)
def test_every_arrival_is_told_once_with_its_time(
    steps: list[tuple[int, float]], start: int
) -> None:
    clock = FakeClock()
    feedback = TransportFeedback(1, clock)
    number, messages = start, []
    arrivals: dict[int, int] = {}
    told: dict[int, int] = {}
    for skipped, wait in [*steps, (0, 1.0), (0, 1.0)]:
        clock.jump(wait)
        number += 1 + skipped
        arrivals[number & 0xFFFF] = int(clock.now() * 4000) & 0xFFFFFF * 256 + 255
        message = feedback.note(number & 0xFFFF, 7)
        if message is not None:
            messages.append(message)
    for index, message in enumerate(messages):
        counter, found = read(message)
        assert counter == index & 0xFF
        received = {number: ticks for number, ticks in found.items() if ticks is not None}
        assert not received.keys() & told.keys()
        told.update(received)
    assert told == {number: arrivals[number] for number in told}
    assert len(told) >= len(arrivals) - 2


def test_a_lost_packet_is_told_as_missing() -> None:
    clock = FakeClock()
    feedback = TransportFeedback(1, clock)
    assert feedback.note(10, 7) is not None
    for number in (11, 13):
        assert feedback.note(number, 7) is None
    clock.jump(0.1)
    message = feedback.note(14, 7)
    assert message is not None
    _, found = read(message)
    assert [number for number, ticks in found.items() if ticks is None] == [12]
    assert list(found) == [11, 12, 13, 14]


def test_a_late_packet_is_told_after_all() -> None:
    clock = FakeClock()
    feedback = TransportFeedback(1, clock)
    feedback.note(10, 7)
    clock.jump(0.1)
    feedback.note(12, 7)
    feedback.note(11, 7)
    clock.jump(0.1)
    message = feedback.note(13, 7)
    assert message is not None
    _, found = read(message)
    assert found[11] is not None
    assert found[13] is not None


def test_a_burst_is_told_before_its_time() -> None:
    feedback = TransportFeedback(1, FakeClock())
    feedback.note(0, 7)
    told = [feedback.note(number, 7) is not None for number in range(1, 201)]
    assert told.count(True) == 2


def test_it_is_for_what_a_client_brings_and_takes_the_place_of_estimates() -> None:
    wish = f"a=extmap:7 {TRANSPORT_NUMBER_URI}\r\n"
    wish += "a=rtcp-fb:96 transport-cc\r\na=rtcp-fb:96 goog-remb\r\n"
    sdp = offer(video("0") + wish, video("1", way="sendonly") + wish)
    parsed = parse_offer(sdp, max_bytes=10**6, max_sections=4)
    out, into = negotiate(parsed, None, [VIDEO, WEBCAM]).sections
    assert out.choice is not None
    assert into.choice is not None
    assert TRANSPORT_NUMBER_URI not in out.extensions
    assert out.choice.feedback == ("nack", "nack pli", "goog-remb")
    assert into.extensions[TRANSPORT_NUMBER_URI] == 7
    assert into.choice.feedback == ("nack", "nack pli", "transport-cc")
