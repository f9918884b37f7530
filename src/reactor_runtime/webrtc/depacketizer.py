"""From RTP payloads back to the bitstream a decoder takes. Pure functions of one payload."""

import struct

from reactor_runtime.media.encoded_frame import Codec

_STAP_A, _FU_A = 24, 28
_IDR, _SPS = 5, 7
_START_CODE = b"\x00\x00\x00\x01"


def unpack_payload(codec: Codec, payload: bytes) -> bytes:
    """Return what *payload* adds to its frame (H264: in Annex B form).

    Raises:
        ValueError: The payload's own header is broken.
    """
    if codec is Codec.VP8:
        return payload[_vp8_header_size(payload) :]
    if codec is Codec.H264:
        return _h264_units(payload)
    return payload


def begins_key_frame(codec: Codec, payload: bytes) -> bool:
    """Return whether *payload* is the first of a frame that a decoder can start at."""
    if not codec.is_video:
        return True
    try:
        if codec is Codec.VP8:
            size = _vp8_header_size(payload)
            return payload[0] & 0x1F == 0x10 and len(payload) > size and not payload[size] & 1
        return any(kind in (_IDR, _SPS) for kind in _h264_kinds(payload))
    except (ValueError, IndexError):
        return False


def _vp8_header_size(payload: bytes) -> int:
    """Return the length of a VP8 payload descriptor (RFC 7741 section 4.2)."""
    size = 1
    try:
        if payload[0] & 0x80:
            flags = payload[1]
            size = 2
            if flags & 0x80:
                size += 2 if payload[size] & 0x80 else 1
            if flags & 0x40:
                size += 1
            if flags & 0x30:
                size += 1
    except IndexError:
        raise ValueError("VP8 payload descriptor is cut short") from None
    if len(payload) < size:
        raise ValueError("VP8 payload descriptor is cut short")
    return size


def _h264_kinds(payload: bytes) -> list[int]:
    kind = payload[0] & 0x1F
    if kind == _STAP_A:
        return [unit[0] & 0x1F for unit in _stap_units(payload)]
    if kind == _FU_A:
        return [payload[1] & 0x1F] if payload[1] & 0x80 else []
    return [kind]


def _h264_units(payload: bytes) -> bytes:
    if len(payload) < 2:
        raise ValueError("NAL unit is cut short")
    kind = payload[0] & 0x1F
    if kind == _STAP_A:
        return b"".join(_START_CODE + unit for unit in _stap_units(payload))
    if kind == _FU_A:
        if payload[1] & 0x80:
            return _START_CODE + bytes([payload[0] & 0xE0 | payload[1] & 0x1F]) + payload[2:]
        return payload[2:]
    if 0 < kind < _STAP_A:
        return _START_CODE + payload
    raise ValueError(f"NAL unit type {kind} is not used in mode 1")


def _stap_units(payload: bytes) -> list[bytes]:
    units, at = [], 1
    while at < len(payload):
        if len(payload) < at + 2:
            raise ValueError("aggregated NAL units are cut short")
        (size,) = struct.unpack_from("!H", payload, at)
        unit = payload[at + 2 : at + 2 + size]
        if not unit or len(unit) < size:
            raise ValueError("aggregated NAL units are cut short")
        units.append(unit)
        at += 2 + size
    return units
