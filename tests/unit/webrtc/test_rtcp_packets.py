import contextlib
import struct

import pytest
from aiortc.rtp import RtcpPacket as AiortcPacket
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.webrtc.rtcp_packets import (
    BitrateEstimate,
    KeyRequest,
    Nack,
    ReceiverReport,
    ReportBlock,
    SenderReport,
    parse_rtcp,
    write_bitrate_estimate,
    write_description,
    write_key_request,
    write_nack,
    write_receiver_report,
    write_sender_report,
)

BLOCK = ReportBlock(5, 12, -3, 70_000, 44, 0x11223344, 6553)


def test_what_is_written_is_read_again() -> None:
    report = SenderReport(1, 0xAABBCCDD00112233, 90_000, 10, 1000)
    compound = write_sender_report(report) + write_description(1, "clock")
    assert parse_rtcp(compound) == [report]
    assert parse_rtcp(write_receiver_report(2, [BLOCK])) == [ReceiverReport(2, (BLOCK,))]
    assert parse_rtcp(write_key_request(1, 9)) == [KeyRequest(9)]


def test_parts_that_nobody_reads_are_passed_over() -> None:
    goodbye = struct.pack("!BBHI", 0x81, 203, 1, 4)
    assert parse_rtcp(goodbye + write_key_request(1, 9)) == [KeyRequest(9)]


def test_a_fir_names_its_streams_in_the_entries() -> None:
    body = struct.pack("!IIIBxxxIBxxx", 1, 0, 77, 1, 78, 2)
    packet = struct.pack("!BBH", 0x80 | 4, 206, len(body) // 4) + body
    assert parse_rtcp(packet) == [KeyRequest(77), KeyRequest(78)]


@given(st.sets(st.integers(0, 0xFFFF), min_size=1, max_size=200))
def test_a_nack_names_exactly_the_missing_packets(missing: set[int]) -> None:
    [nack] = parse_rtcp(write_nack(1, 2, missing))
    assert isinstance(nack, Nack)
    assert set(nack.sequences) == missing


@given(st.integers(1_000, 200_000_000))
def test_an_estimate_is_kept_within_its_precision(bitrate: int) -> None:
    [estimate] = parse_rtcp(write_bitrate_estimate(1, bitrate, [3]))
    assert isinstance(estimate, BitrateEstimate)
    assert bitrate * 0.9999 <= estimate.bitrate <= bitrate
    assert estimate.ssrcs == (3,)


@given(st.binary(max_size=80))
def test_junk_is_a_value_error_or_nothing_worse(junk: bytes) -> None:
    with contextlib.suppress(ValueError):
        parse_rtcp(junk)


@given(st.sampled_from([200, 201, 203, 205, 206]), st.integers(0, 31), st.binary(max_size=60))
def test_known_kinds_with_wrong_bodies_are_value_errors(kind: int, count: int, body: bytes) -> None:
    body += b"\0" * (-len(body) % 4)
    packet = struct.pack("!BBH", 0x80 | count, kind, len(body) // 4) + body
    with contextlib.suppress(ValueError):
        parse_rtcp(packet)


@pytest.mark.parametrize(
    "packet",
    [
        write_sender_report(SenderReport(1, 2, 3, 4, 5)),
        write_receiver_report(2, [BLOCK]),
        write_nack(1, 2, [3, 4, 21]),
        write_key_request(1, 2),
        write_bitrate_estimate(1, 3_000_000, [2]),
    ],
)
def test_another_stack_reads_what_we_write(packet: bytes) -> None:
    [parsed] = AiortcPacket.parse(packet)
    assert bytes(parsed) == packet


def test_another_stack_reads_our_name() -> None:
    [parsed] = AiortcPacket.parse(write_description(7, "clock"))
    assert [(chunk.ssrc, chunk.items) for chunk in parsed.chunks] == [(7, [(1, b"clock")])]


def test_of_a_request_for_everything_the_first_thousand_are_read() -> None:
    [nack] = parse_rtcp(write_nack(1, 2, range(6000)))
    assert isinstance(nack, Nack)
    assert set(range(1000)) < set(nack.sequences) < set(range(1100))
