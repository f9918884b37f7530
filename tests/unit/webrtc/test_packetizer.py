import fractions
import itertools
from collections.abc import Sequence
from typing import Any

import av
import numpy as np
import pytest
from aiortc.codecs.h264 import h264_depayload
from aiortc.codecs.vpx import VpxPayloadDescriptor, vp8_depayload

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.depacketizer import begins_key_frame, unpack_payload
from reactor_runtime.webrtc.packetizer import MAX_PAYLOAD_BYTES, make_packetizer, split_units


def encoded(name: str, count: int = 5) -> list[tuple[bytes, bool]]:
    encoder: Any = av.CodecContext.create(name, "w")
    encoder.width, encoder.height, encoder.pix_fmt = 320, 240, "yuv420p"
    encoder.bit_rate, encoder.gop_size = 4_000_000, 300
    encoder.time_base, encoder.framerate = fractions.Fraction(1, 30), fractions.Fraction(30, 1)
    if name == "libx264":
        encoder.options, encoder.profile = {"tune": "zerolatency"}, "Baseline"
    else:
        encoder.options = {"deadline": "realtime", "lag-in-frames": "0"}
    noise = np.random.default_rng(1)
    found = []
    for number in range(count):
        rgb = noise.integers(0, 255, (240, 320, 3), dtype=np.uint8)
        frame = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv420p")
        frame.pts = number
        found += [(bytes(packet), bool(packet.is_keyframe)) for packet in encoder.encode(frame)]
    return found


@pytest.fixture(scope="module")
def vp8() -> list[tuple[bytes, bool]]:
    return encoded("libvpx")


@pytest.fixture(scope="module")
def h264() -> list[tuple[bytes, bool]]:
    return encoded("libx264")


def test_vp8_frames_come_out_as_they_went_in(vp8: list[tuple[bytes, bool]]) -> None:
    packetizer = make_packetizer(Codec.VP8)
    ids = []
    for frame, is_key in vp8:
        payloads = packetizer.packetize(frame)
        assert len(payloads) > 3
        assert max(map(len, payloads)) <= MAX_PAYLOAD_BYTES
        assert b"".join(map(vp8_depayload, payloads)) == frame
        assert b"".join(unpack_payload(Codec.VP8, payload) for payload in payloads) == frame
        assert [begins_key_frame(Codec.VP8, p) for p in payloads] == [is_key] + [False] * (
            len(payloads) - 1
        )
        described = [VpxPayloadDescriptor.parse(payload)[0] for payload in payloads]
        assert [d.partition_start for d in described] == [1] + [0] * (len(payloads) - 1)
        assert len({d.picture_id for d in described}) == 1
        ids.append(described[0].picture_id)
    assert [(b - a) % 0x8000 for a, b in itertools.pairwise(ids)] == [1] * (len(ids) - 1)


def joined(payloads: Sequence[bytes], depayload: Any) -> list[bytes]:
    return list(split_units(b"".join(map(depayload, payloads))))


def test_h264_units_come_out_as_they_went_in(h264: list[tuple[bytes, bool]]) -> None:
    packetizer = make_packetizer(Codec.H264)
    assert h264[0][1]
    for frame, is_key in h264:
        payloads = packetizer.packetize(frame)
        assert max(map(len, payloads)) <= MAX_PAYLOAD_BYTES
        units = list(split_units(frame))
        assert joined(payloads, h264_depayload) == units
        assert joined(payloads, lambda p: unpack_payload(Codec.H264, p)) == units
        assert any(begins_key_frame(Codec.H264, payload) for payload in payloads) is is_key


def test_small_h264_units_share_a_packet() -> None:
    stream = b"\0\0\0\1\x67abc" + b"\0\0\0\1\x68de" + b"\0\0\1\x65" + b"z" * 100
    [payload] = make_packetizer(Codec.H264).packetize(stream)
    assert payload[0] == 0x60 | 24
    assert begins_key_frame(Codec.H264, payload)


def test_opus_is_one_payload_and_nothing_is_none() -> None:
    assert list(make_packetizer(Codec.OPUS).packetize(b"abc")) == [b"abc"]
    for codec in Codec:
        assert list(make_packetizer(codec).packetize(b"")) == []


@pytest.mark.parametrize("payload", [b"\x80", b"\x90\x80", b"\x90\xf0\x80\x01", b"\x90\x80\x80"])
def test_a_cut_vp8_descriptor_is_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="cut short"):
        unpack_payload(Codec.VP8, payload)
    assert not begins_key_frame(Codec.VP8, payload)


@pytest.mark.parametrize("payload", [b"\x18\0\5ab", b"\x18\0", b"\x1d\0", b"\x65", b"\x18\0\0"])
def test_broken_h264_payloads_are_refused(payload: bytes) -> None:
    with pytest.raises(ValueError, match="NAL"):
        unpack_payload(Codec.H264, payload)
