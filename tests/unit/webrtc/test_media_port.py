from typing import Any, cast

from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.webrtc.media_port import MediaPort


class Keys:
    """Stands for an encrypted path whose cipher leaves everything as it is."""

    def unprotect(self, packet: bytes, *, is_rtcp: bool) -> bytes | None:
        return packet


def port(clock: FakeClock, limit: int) -> tuple[MediaPort, list[tuple[bytes, bool]]]:
    made, seen = MediaPort(clock, limit), cast(list[tuple[bytes, bool]], [])
    made.attach(cast(Any, None), cast(Any, Keys()))
    made.on_packet = lambda packet, is_rtcp: seen.append((packet, is_rtcp))
    return made, seen


def test_sound_and_reports_are_told_apart_and_scraps_dropped() -> None:
    made, seen = port(FakeClock(), 100)
    rtp, rtcp = b"\x80\x60" + b"r" * 20, b"\x80\xc8" + b"c" * 20
    for packet in (rtp, rtcp, b"\x80\x60short"):
        made.receive(packet)
    assert seen == [(rtp, False), (rtcp, True)]


async def test_more_packets_than_allowed_are_dropped_until_the_next_second() -> None:
    clock = FakeClock()
    made, seen = port(clock, 10)
    for _ in range(25):
        made.receive(b"\x80\x60" + b"r" * 20)
    assert (len(seen), made.dropped) == (10, 15)
    await clock.advance(1.0)
    made.receive(b"\x80\x60" + b"r" * 20)
    assert len(seen) == 11


async def test_reports_have_a_bound_of_their_own() -> None:
    clock = FakeClock()
    made, seen = port(clock, 8000)
    for _ in range(600):
        made.receive(b"\x80\xc9" + b"c" * 20)
    made.receive(b"\x80\x60" + b"r" * 20)
    assert (len(seen), seen[-1][1]) == (501, False)
    await clock.advance(1.0)
    made.receive(b"\x80\xc9" + b"c" * 20)
    assert (len(seen), seen[-1][1]) == (502, True)


def test_without_a_path_nothing_is_sent() -> None:
    made = MediaPort(FakeClock(), 10)
    made.send_rtp([b"x" * 20])
    made.send_rtcp(b"x" * 20)
    made.receive(b"\x80\x60" + b"r" * 20)
    assert (made.backlog_bytes, made.is_near) == (0, False)
