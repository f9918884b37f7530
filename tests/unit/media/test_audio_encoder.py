from typing import Any

import av
import numpy as np

from reactor_runtime.media.audio_encoder import PACKET_SAMPLES, AudioEncoder


def test_a_packet_is_twenty_milliseconds_and_comes_at_once() -> None:
    encoder = AudioEncoder(96_000)
    decoder: Any = av.CodecContext.create("libopus", "r")
    decoder.sample_rate, decoder.layout = 48_000, "stereo"
    lengths = []
    for k in range(10):
        packet = encoder.encode(np.zeros((PACKET_SAMPLES, 2), np.int16), k * PACKET_SAMPLES)
        assert packet
        lengths += [frame.samples for frame in decoder.decode(av.Packet(packet))]
    assert lengths == [960] * 10


def test_silence_is_cheap() -> None:
    encoder = AudioEncoder(96_000)
    silence = np.zeros((PACKET_SAMPLES, 2), np.int16)
    packets = [encoder.encode(silence, k * PACKET_SAMPLES) for k in range(20)]
    assert len(packets[-1]) <= 10
