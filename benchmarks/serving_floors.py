"""What no server on these libraries can beat here: imports, one picture's way, one message's."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

FPS, BITRATE = 24, 3_500_000
LIBRARIES = "aiortc, av, numpy, prometheus_client, pydantic, starlette, uvicorn"


def interpreter_s(imports: str, count: int) -> list[float]:
    """Return how long an interpreter takes to start, import and end."""
    command = [sys.executable, "-c", f"import {imports}"]
    return timed(lambda: subprocess.run(command, check=True), count)


@dataclass
class PictureFloor:
    """One 720p picture's conversion, encoding and decoding; and their CPU in the server."""

    convert: list[float] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)
    decode: list[float] = field(default_factory=list)
    cores: float = 0.0

    @property
    def command_to_frame(self) -> list[float]:
        """Half a frame's wait for the next tick, then one picture all the way."""
        parts = zip(self.convert, self.encode, self.decode, strict=True)
        return [0.5 / FPS + sum(each) for each in parts]


def picture(count: int) -> PictureFloor:
    """Return what *count* pictures cost, measured in a process of its own."""
    return PictureFloor(**_output_of(__file__, str(count)))


def messages(count: int) -> tuple[list[float], list[float]]:
    """Return seconds from an offer to an open channel and of echoes over it, with bare aiortc."""
    found = _output_of(str(HERE / "viewers" / "bare_peers.py"), str(count))
    return found["connect"], found["echo"]


def timed(action: Callable[[], object], count: int) -> list[float]:
    """Return how long each of *count* calls took."""
    samples = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        samples.append(time.perf_counter() - began)
    return samples


def _output_of(program: str, *words: str) -> dict[str, Any]:
    command = [sys.executable, program, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return dict(json.loads(done.stdout))


def _measure_picture(count: int) -> PictureFloor:
    """Convert, encode (VP8 as for one viewer) and decode the bench model's picture."""
    import av
    from av.video.reformatter import VideoReformatter

    sys.path.insert(0, str(HERE / "model"))
    from pattern import Pattern

    pattern, scaler, floor = Pattern(), VideoReformatter(), PictureFloor()
    encoder = av.CodecContext.create("libvpx", "w")
    _set_up(encoder, pattern.width, pattern.height)
    decoder = av.CodecContext.create("vp8", "r")
    served = 0.0
    for number in range(count):
        rgb = pattern.frame(number, "red")
        began, cpu = time.perf_counter(), time.process_time()
        source = av.VideoFrame.from_numpy_buffer(rgb, format="rgb24")
        i420 = scaler.reformat(source, format="yuv420p")
        converted = time.perf_counter()
        i420.pts, i420.time_base = number * 90_000 // FPS, Fraction(1, 90_000)
        packets = encoder.encode(i420)
        encoded, served = time.perf_counter(), served + time.process_time() - cpu
        for packet in packets:
            decoder.decode(packet)
        floor.convert.append(converted - began)
        floor.encode.append(encoded - converted)
        floor.decode.append(time.perf_counter() - encoded)
    floor.cores = served / count * FPS
    return floor


def _set_up(encoder: Any, width: int, height: int) -> None:
    encoder.width, encoder.height, encoder.pix_fmt = width, height, "yuv420p"
    encoder.time_base, encoder.framerate = Fraction(1, 90_000), Fraction(FPS)
    encoder.bit_rate, encoder.gop_size, encoder.thread_count = BITRATE, 1_000_000, 1
    encoder.options = {
        "deadline": "realtime",
        "cpu-used": "-8",
        "noise-sensitivity": "0",
        "lag-in-frames": "0",
        "minrate": str(BITRATE),
        "maxrate": str(BITRATE),
    }


if __name__ == "__main__":
    print(json.dumps(asdict(_measure_picture(int(sys.argv[1])))))
