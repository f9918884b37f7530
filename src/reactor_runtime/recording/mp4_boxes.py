"""MP4 boxes: what has to be known of a fragmented file to cut it up and put it together again.

    ftyp moov │ moof mdat │ moof mdat │ …        each box: size (4 bytes), kind (4), content
    the head    a fragment

    moov: trak: tkhd (track id), mdia: mdhd (ticks per second), hdlr (vide, soun)
    moof: traf: tfhd (track id), tfdt (the tick it begins at), trun (how long each sample lasts)

ISO/IEC 14496-12 has the layout. Only what FFmpeg's muxer writes is understood.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEAD = struct.Struct(">I4s")
_LONG_SIZE = struct.Struct(">Q")
_WORD = struct.Struct(">I")
_LONG = struct.Struct(">Q")
_FULL = 4  # bytes of version and flags that begin many a box
_MAX_REFERENCES = 0xFFFF
_STARTS_WITH_KEY = 0x90000000  # SAP type 1: it can be played from here

# Optional fields of tfhd and trun, in their order: flag and bytes.
_TFHD_BEFORE_DURATION = ((0x1, 8), (0x2, 4))
_TFHD_DURATION = 0x8
_TRUN_BEFORE_SAMPLES = ((0x1, 4), (0x4, 4))
_TRUN_DURATION = 0x100
_TRUN_PER_SAMPLE = (0x100, 0x200, 0x400, 0x800)


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """Where one box lies in a buffer: *start* and *end* are those of its content."""

    kind: bytes
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackHead:
    """What a file's head says of one track.

    Attributes:
        track_id: Its number.
        timescale: Ticks per second of its times.
    """

    track_id: int
    timescale: int


def boxes(data: bytes | bytearray, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """Yield the boxes that lie whole between *start* and *end*."""
    end = len(data) if end is None else end
    while start + _HEAD.size <= end:
        size, kind = _HEAD.unpack_from(data, start)
        content = start + _HEAD.size
        if size == 1 and content + _LONG_SIZE.size <= end:
            (size,) = _LONG_SIZE.unpack_from(data, content)
            content += _LONG_SIZE.size
        if size < content - start or start + size > end:
            return
        yield Box(kind=kind, start=content, end=start + size)
        start += size


def find(data: bytes | bytearray, *path: bytes, within: Box | None = None) -> list[Box]:
    """Return every box at *path*, such as ``b"moov", b"trak"``."""
    found = [within or Box(kind=b"", start=0, end=len(data))]
    for kind in path:
        found = [b for each in found for b in boxes(data, each.start, each.end) if b.kind == kind]
    return found


def read_head(head: bytes) -> list[TrackHead]:
    """Return the tracks of a file's head, in their order."""
    tracks = []
    for trak in find(head, b"moov", b"trak"):
        (tkhd,) = find(head, b"tkhd", within=trak)
        (mdhd,) = find(head, b"mdia", b"mdhd", within=trak)
        times = 16 if head[tkhd.start] else 8  # of creation and change, before what is wanted
        (track_id,) = _WORD.unpack_from(head, tkhd.start + _FULL + times)
        times = 16 if head[mdhd.start] else 8
        (timescale,) = _WORD.unpack_from(head, mdhd.start + _FULL + times)
        tracks.append(TrackHead(track_id=track_id, timescale=timescale))
    return tracks


def span(fragment: bytes, track: TrackHead) -> tuple[float, float] | None:
    """Return the seconds at which *track* begins and ends in *fragment*, ``None`` if not in it."""
    for traf in find(fragment, b"moof", b"traf"):
        if _track_id(fragment, traf) == track.track_id:
            start = _begins(fragment, traf)
            ticks = sum(_lasts(fragment, traf, run) for run in find(fragment, b"trun", within=traf))
            return start / track.timescale, (start + ticks) / track.timescale
    return None


def shifted(fragments: bytes, tracks: Sequence[TrackHead], by_s: float) -> bytes:
    """Return *fragments* as they would be had they begun *by_s* seconds earlier."""
    scales = {track.track_id: track.timescale for track in tracks}
    moved = bytearray(fragments)
    for traf in find(fragments, b"moof", b"traf"):
        (tfdt,) = find(fragments, b"tfdt", within=traf)
        by = round(by_s * scales[_track_id(fragments, traf)])
        field = _LONG if fragments[tfdt.start] else _WORD
        begins = max(0, _begins(fragments, traf) - by)
        field.pack_into(moved, tfdt.start + _FULL, begins)
    return bytes(moved)


def make_index(track: TrackHead, parts: Sequence[tuple[int, float]]) -> bytes:
    """Return a ``sidx`` box: players learn from it how long the file is, and can seek.

    Args:
        track: What the durations are counted on.
        parts: Bytes and seconds of each part that follows it.
    """
    if not 0 < len(parts) <= _MAX_REFERENCES:
        return b""
    references, at_s, at = [], 0.0, 0
    for size, seconds in parts:
        at_s += seconds
        ticks = round(at_s * track.timescale) - at
        at += ticks
        references.append(struct.pack(">III", size, ticks, _STARTS_WITH_KEY))
    begins, offset = 0, 0
    fixed = struct.pack(
        ">IIIQQHH", 1 << 24, track.track_id, track.timescale, begins, offset, 0, len(parts)
    )
    content = fixed + b"".join(references)
    return _HEAD.pack(_HEAD.size + len(content), b"sidx") + content


def _track_id(data: bytes, traf: Box) -> int:
    (tfhd,) = find(data, b"tfhd", within=traf)
    (number,) = _WORD.unpack_from(data, tfhd.start + _FULL)
    return int(number)


def _begins(data: bytes, traf: Box) -> int:
    (tfdt,) = find(data, b"tfdt", within=traf)
    (tick,) = (_LONG if data[tfdt.start] else _WORD).unpack_from(data, tfdt.start + _FULL)
    return int(tick)


def _lasts(data: bytes, traf: Box, run: Box) -> int:
    """Return the ticks that all samples of one run last."""
    flags, count = struct.unpack_from(">II", data, run.start)
    if not flags & _TRUN_DURATION:
        return int(count) * _default_duration(data, traf)
    stride = sum(4 for flag in _TRUN_PER_SAMPLE if flags & flag)
    first = run.start + 8 + _size_of(flags, _TRUN_BEFORE_SAMPLES)
    return sum(int(_WORD.unpack_from(data, first + k * stride)[0]) for k in range(count))


def _default_duration(data: bytes, traf: Box) -> int:
    (tfhd,) = find(data, b"tfhd", within=traf)
    (flags,) = _WORD.unpack_from(data, tfhd.start)
    if not flags & _TFHD_DURATION:
        return 0
    at = tfhd.start + 8 + _size_of(flags, _TFHD_BEFORE_DURATION)
    return int(_WORD.unpack_from(data, at)[0])


def _size_of(flags: int, fields: Sequence[tuple[int, int]]) -> int:
    return sum(size for flag, size in fields if flags & flag)
