"""NTP time stamps, as RTCP has them (RFC 3550 section 4): 64 bits, 32 of them a fraction. Pure."""

_EPOCH_S = 2_208_988_800  # from 1900 to 1970
_SECOND = 1 << 32


def to_ntp(wall_s: float) -> int:
    """Return seconds since 1970 as an NTP time."""
    return int((wall_s + _EPOCH_S) * _SECOND)


def from_ntp(ntp_time: int) -> float:
    """Return an NTP time as seconds since 1970."""
    return ntp_time / _SECOND - _EPOCH_S


def middle_bits(ntp_time: int) -> int:
    """Return the 32 bits by which report blocks name an NTP time: units of 1/65536 s."""
    return ntp_time >> 16 & 0xFFFFFFFF
