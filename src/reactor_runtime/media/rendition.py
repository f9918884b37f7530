"""Rendition: one track in one codec and quality: what one encoder makes."""

from typing import NamedTuple

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.media.rung import Rung


class Rendition(NamedTuple):
    """Names one encoder.

    Attributes:
        track: Name of the output track.
        codec: What it is encoded in.
        rung: How well. Sound has the top alone.
    """

    track: str
    codec: Codec
    rung: Rung = Rung.TOP
