"""RTCP: the packets we read and write (RFC 3550, 4585, 5104 and REMB). Pure functions."""

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_SENDER_REPORT, _RECEIVER_REPORT, _SDES = 200, 201, 202
_TRANSPORT_FEEDBACK, _PAYLOAD_FEEDBACK = 205, 206
_NACK, _ARRIVALS = 1, 15
_PLI, _FIR, _APPLICATION = 1, 4, 15
_BLOCK = struct.Struct("!IIIIII")
_REMB_HEAD = b"REMB"
_MOST_NACKED = 1024  # by one packet; one could name 6,000


class ReportBlock(NamedTuple):
    """What a receiver tells about one stream.

    Attributes:
        ssrc: The stream.
        fraction_lost: Of the packets since the last report, in 1/256.
        packets_lost: In all.
        highest_sequence: Unwrapped, 32 bits.
        jitter: In units of the codec's clock.
        last_report: Middle 32 bits of the NTP time of the last sender report seen.
        delay: Since that report, in 1/65536 s.
    """

    ssrc: int
    fraction_lost: int
    packets_lost: int
    highest_sequence: int
    jitter: int
    last_report: int
    delay: int


class SenderReport(NamedTuple):
    """A sender's clock: NTP time (64 bits) and RTP time of the same moment, and counters."""

    ssrc: int
    ntp_time: int
    rtp_time: int
    packets: int
    octets: int
    blocks: tuple[ReportBlock, ...] = ()


class ReceiverReport(NamedTuple):
    """What a receiver saw of our streams."""

    ssrc: int
    blocks: tuple[ReportBlock, ...]


class Nack(NamedTuple):
    """Packets of a stream that did not arrive: the first thousand or so that are named."""

    media_ssrc: int
    sequences: tuple[int, ...]


class KeyRequest(NamedTuple):
    """A receiver cannot go on without a key frame (PLI or FIR)."""

    media_ssrc: int


class BitrateEstimate(NamedTuple):
    """What a receiver believes its line can carry (REMB), in bits per second."""

    bitrate: int
    ssrcs: tuple[int, ...]


RtcpPacket = SenderReport | ReceiverReport | Nack | KeyRequest | BitrateEstimate


def parse_rtcp(packet: bytes) -> list[RtcpPacket]:
    """Return the parts of a compound packet that we know, in order.

    Raises:
        ValueError: A part is cut short.
    """
    parts: list[RtcpPacket] = []
    at = 0
    while at < len(packet):
        if len(packet) < at + 4 or packet[at] >> 6 != 2:
            raise ValueError("not RTCP")
        count, kind, words = packet[at] & 0x1F, packet[at + 1], packet[at + 2] << 8 | packet[at + 3]
        end = at + 4 * (words + 1)
        if len(packet) < end:
            raise ValueError("RTCP packet is cut short")
        parts.extend(_parse_part(kind, count, packet[at + 4 : end]))
        at = end
    return parts


def _parse_part(kind: int, count: int, body: bytes) -> Iterable[RtcpPacket]:
    try:
        if kind == _SENDER_REPORT:
            ssrc, ntp_time, rtp_time, packets, octets = struct.unpack_from("!IQIII", body)
            blocks = _blocks(body[24:], count)
            return (SenderReport(ssrc, ntp_time, rtp_time, packets, octets, blocks),)
        if kind == _RECEIVER_REPORT:
            return (ReceiverReport(struct.unpack_from("!I", body)[0], _blocks(body[4:], count)),)
        if kind == _TRANSPORT_FEEDBACK and count == _NACK:
            return (_parse_nack(body),)
        if kind == _PAYLOAD_FEEDBACK:
            return _parse_payload_feedback(count, body)
    except (struct.error, IndexError) as error:
        raise ValueError("RTCP packet is cut short") from error
    return ()


def _blocks(body: bytes, count: int) -> tuple[ReportBlock, ...]:
    found = []
    for index in range(count):
        ssrc, loss, highest, jitter, last, delay = _BLOCK.unpack_from(body, index * _BLOCK.size)
        lost = loss & 0xFFFFFF
        if lost & 0x800000:
            lost -= 0x1000000
        found.append(ReportBlock(ssrc, loss >> 24, lost, highest, jitter, last, delay))
    return tuple(found)


def _parse_nack(body: bytes) -> Nack:
    _, media_ssrc = struct.unpack_from("!II", body)
    sequences: list[int] = []
    for at in range(8, len(body) - 3, 4):
        if len(sequences) >= _MOST_NACKED:
            break
        first, mask = struct.unpack_from("!HH", body, at)
        sequences.append(first)
        sequences.extend((first + bit + 1) & 0xFFFF for bit in range(16) if mask >> bit & 1)
    return Nack(media_ssrc, tuple(sequences))


def _parse_payload_feedback(form: int, body: bytes) -> Iterable[RtcpPacket]:
    _, media_ssrc = struct.unpack_from("!II", body)
    if form == _PLI:
        return (KeyRequest(media_ssrc),)
    if form == _FIR:  # the streams are named in the entries
        entries = range(8, len(body) - 7, 8)
        return tuple(KeyRequest(struct.unpack_from("!I", body, at)[0]) for at in entries)
    if form == _APPLICATION and body[8:12] == _REMB_HEAD:
        count, exponent, mantissa = body[12], body[13] >> 2, (body[13] & 3) << 16
        mantissa |= struct.unpack_from("!H", body, 14)[0]
        return (BitrateEstimate(mantissa << exponent, struct.unpack_from(f"!{count}I", body, 16)),)
    return ()


def _part(kind: int, count: int, body: bytes) -> bytes:
    return struct.pack("!BBH", 0x80 | count, kind, len(body) // 4) + body


def write_sender_report(report: SenderReport) -> bytes:
    """Return a sender report without blocks."""
    body = struct.pack(
        "!IQIII",
        report.ssrc,
        report.ntp_time,
        report.rtp_time & 0xFFFFFFFF,
        report.packets & 0xFFFFFFFF,
        report.octets & 0xFFFFFFFF,
    )
    return _part(_SENDER_REPORT, 0, body)


def write_receiver_report(ssrc: int, blocks: Sequence[ReportBlock]) -> bytes:
    """Return what *ssrc* has seen of up to 31 streams."""
    body = struct.pack("!I", ssrc)
    for block in blocks:
        lost = max(-0x800000, min(block.packets_lost, 0x7FFFFF)) & 0xFFFFFF
        body += _BLOCK.pack(
            block.ssrc,
            block.fraction_lost << 24 | lost,
            block.highest_sequence & 0xFFFFFFFF,
            block.jitter & 0xFFFFFFFF,
            block.last_report,
            block.delay,
        )
    return _part(_RECEIVER_REPORT, len(blocks), body)


def write_description(ssrc: int, cname: str) -> bytes:
    """Return the SDES chunk that ties *ssrc* to *cname*: streams of one clock share it."""
    name = cname.encode()
    chunk = struct.pack("!IBB", ssrc, 1, len(name)) + name + b"\0"
    return _part(_SDES, 1, chunk + b"\0" * (-len(chunk) % 4))


def write_nack(ssrc: int, media_ssrc: int, sequences: Iterable[int]) -> bytes:
    """Return a request to send packets (16-bit sequence numbers) of *media_ssrc* again."""
    body = struct.pack("!II", ssrc, media_ssrc)
    pending = sorted(set(sequences))
    while pending:
        first = pending[0]
        near = [number for number in pending[1:] if number - first <= 16]
        mask = sum(1 << (number - first - 1) for number in near)
        body += struct.pack("!HH", first, mask)
        pending = pending[1 + len(near) :]
    return _part(_TRANSPORT_FEEDBACK, _NACK, body)


def write_arrivals(body: bytes) -> bytes:
    """Return the transport-wide feedback that *body*, of whole words, is the content of."""
    return _part(_TRANSPORT_FEEDBACK, _ARRIVALS, body)


def write_key_request(ssrc: int, media_ssrc: int) -> bytes:
    """Return a picture loss indication for *media_ssrc*."""
    return _part(_PAYLOAD_FEEDBACK, _PLI, struct.pack("!II", ssrc, media_ssrc))


def write_bitrate_estimate(ssrc: int, bitrate: int, ssrcs: Sequence[int]) -> bytes:
    """Return a REMB: what *ssrcs* together may send, in bits per second."""
    exponent = max(0, bitrate.bit_length() - 18)
    mantissa = bitrate >> exponent
    body = struct.pack("!II", ssrc, 0) + _REMB_HEAD
    body += struct.pack("!BBH", len(ssrcs), exponent << 2 | mantissa >> 16, mantissa & 0xFFFF)
    return _part(_PAYLOAD_FEEDBACK, _APPLICATION, body + struct.pack(f"!{len(ssrcs)}I", *ssrcs))
