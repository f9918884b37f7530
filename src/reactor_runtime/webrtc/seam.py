"""Seam: makes one stream of the rungs that one viewer was given in turn.

A rung has picture ids of its own, and its key frame may show the moment that was shown already.
"""

from dataclasses import replace

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.broadcast import PacketizedFrame
from reactor_runtime.webrtc.packetizer import vp8_picture_id, with_vp8_picture_id

_TIMES, _HALF = 1 << 32, 1 << 31
_PICTURE_IDS = 1 << 15


class Seam:
    """Renumbers what follows a change of rungs; a viewer who never changed gets what is shared."""

    def __init__(self, codec: Codec) -> None:
        self._has_ids = codec is Codec.VP8
        self._is_open = False
        self._shift = 0  # of picture ids
        self._last: PacketizedFrame | None = None  # as it was sent

    def open(self) -> None:
        """Note that the next picture is of another rung."""
        self._is_open = self._last is not None

    def join(self, picture: PacketizedFrame) -> PacketizedFrame:
        """Return *picture* as it follows the one before."""
        if not picture.payloads:
            return picture
        if self._is_open and self._last is not None:
            self._is_open = False
            picture = self._after(self._last, picture)
        if self._shift:
            number = (vp8_picture_id(picture.payloads[0]) + self._shift) % _PICTURE_IDS
            payloads = [with_vp8_picture_id(each, number) for each in picture.payloads]
            picture = replace(picture, payloads=payloads)
        self._last = picture
        return picture

    def _after(self, last: PacketizedFrame, picture: PacketizedFrame) -> PacketizedFrame:
        if self._has_ids:
            own, before = vp8_picture_id(picture.payloads[0]), vp8_picture_id(last.payloads[0])
            self._shift = (before + 1 - own) % _PICTURE_IDS
        if 0 < (picture.timestamp - last.timestamp) % _TIMES < _HALF:
            return picture
        return replace(picture, timestamp=(last.timestamp + 1) % _TIMES)
