import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.webrtc.rtp_packet import Unwrapper, parse_rtp


def packet(first: int = 0x80, extension: bytes = b"", payload: bytes = b"abc") -> bytes:
    return struct.pack("!BBHII", first, 0x80 | 96, 7, 90_000, 0xDEADBEEF) + extension + payload


def test_a_plain_packet_is_taken_apart() -> None:
    parsed = parse_rtp(packet())
    assert parsed[:5] == (96, True, 7, 90_000, 0xDEADBEEF)
    assert parsed.payload == b"abc"


def test_one_byte_extensions_are_read_past_padding() -> None:
    elements = bytes([0x30 | 2, 1, 2, 3, 0, 0x10 | 0]) + b"m" + b"\0"
    block = struct.pack("!HH", 0xBEDE, len(elements) // 4) + elements
    assert parse_rtp(packet(0x90, block)).extensions == {3: b"\1\2\3", 1: b"m"}


def test_two_byte_extensions_are_read() -> None:
    elements = bytes([20, 2]) + b"hi" + bytes([0, 21, 1]) + b"x"
    block = struct.pack("!HH", 0x1000, len(elements) // 4) + elements
    assert parse_rtp(packet(0x90, block)).extensions == {20: b"hi", 21: b"x"}


def test_padding_and_csrcs_are_left_out() -> None:
    parsed = parse_rtp(packet(0x80 | 0x20 | 1, b"CSRC", b"ab\0\0\3"))
    assert parsed.payload == b"ab"


@given(st.binary(max_size=64))
def test_junk_is_a_value_error_or_a_packet(junk: bytes) -> None:
    with contextlib.suppress(ValueError):
        parse_rtp(junk)


@pytest.mark.parametrize("cut", range(20))
def test_a_cut_packet_is_refused(cut: int) -> None:
    whole = packet(0x90, struct.pack("!HH", 0xBEDE, 2) + b"\x10a" + b"\0" * 6, b"")
    with pytest.raises(ValueError, match="RTP"):
        parse_rtp(whole[:cut])


@given(st.lists(st.integers(-3000, 3000), max_size=200), st.integers(0, 0xFFFF))
def test_unwrapping_follows_the_true_number(steps: list[int], start: int) -> None:
    unwrapper = Unwrapper(16)
    true = top = start
    assert unwrapper.unwrap(start) == start
    for step in steps:
        true = top + step
        assert unwrapper.unwrap(true & 0xFFFF) == true
        top = max(top, true)
