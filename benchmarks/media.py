"""What the media part costs on this machine, without a network.

python benchmarks/media.py [--width 1280] [--height 720] [--fps 24] [--seconds 5]
"""

import asyncio
import itertools
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from figures import Report, options

from reactor_runtime.clock import SystemClock
from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.media.audio_encoder import PACKET_SAMPLES, AudioEncoder
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.picture import PictureMaker
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.threads import threads_for
from reactor_runtime.media.video_encoder import VideoEncoder, VideoFormat
from reactor_runtime.media.video_encoding import bitrate_for
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.recording.mp4_writer import AudioTrack, VideoTrack
from reactor_runtime.recording.take import Take

CLOCK = SystemClock()
VIDEO = Track(name="main", kind=TrackKind.VIDEO, direction=TrackDirection.OUT)
SOUND = Track(name="voice", kind=TrackKind.AUDIO, direction=TrackDirection.OUT, sample_rate=48_000)


@dataclass(frozen=True, slots=True)
class Case:
    """A model: how long its steps take, and the rate it declares, if any."""

    name: str
    fps: float | None
    step_s: Callable[[], float]


def moving(count: int, width: int, height: int) -> Any:
    """Return a textured picture that pans, ``(T, H, W, 3)``."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0 : height + count * 2, 0 : width + count * 4]
    waves = [np.sin(x / a) + np.cos(y / b) for a, b in ((31, 43), (17, 71), (97, 23))]
    texture = 128 + 50 * np.stack(waves, -1) + rng.normal(0, 6, (*x.shape, 3))
    texture = np.clip(texture, 0, 255).astype(np.uint8)
    return np.stack([texture[2 * k : 2 * k + height, 4 * k : 4 * k + width] for k in range(count)])


def clocked(work: Callable[[int], object], times: int) -> list[float]:
    spent = []
    for index in range(times):
        begun = time.perf_counter()
        work(index)
        spent.append(time.perf_counter() - begun)
    return spent[3:]


def costs(report: Report, frames: Any, fps: float) -> None:
    height, width = frames.shape[1:3]
    maker, settings = PictureMaker(), MediaSettings()
    spent = clocked(lambda k: maker.convert(frames[k : k + 1]), len(frames))
    report.add("convert to I420", "ms", spent)
    pictures = maker.convert(frames)
    bitrate = bitrate_for(width * height, fps, settings)
    for codec in (Codec.VP8, Codec.H264):
        wanted = VideoFormat(
            width=width,
            height=height,
            fps=fps,
            bitrate=bitrate,
            threads=threads_for(width * height),
        )
        encoder, sizes = VideoEncoder(codec, wanted), []

        def encode(k: int, encoder: VideoEncoder = encoder, sizes: list[int] = sizes) -> None:
            made = encoder.encode(pictures[k], round(k * 90_000 / fps), key=False)
            sizes.append(len(made.bitstream))

        spent = clocked(encode, len(pictures))
        rate = sum(sizes[10:]) * 8 * fps / (len(sizes) - 10) / 1e6
        report.add(f"encode {codec}", "ms", spent)
        report.add(f"    of {bitrate / 1e6:.1f} Mbit/s", "Mbit/s", [rate])
    opus, samples = AudioEncoder(96_000), np.zeros((PACKET_SAMPLES, 2), np.int16)
    samples[:] = (8000 * np.sin(np.arange(PACKET_SAMPLES) / 17))[:, None]
    spent = clocked(lambda k: opus.encode(samples, k * 960), 100)
    report.add("encode opus, 20 ms", "ms", spent)
    size, audio = (width, height), AudioTrack()
    take = Take(0.0, chunk_s=2.0, video=VideoTrack(size=size, fps=fps), audio=audio)
    cpu = time.process_time()
    spent = clocked(lambda k: take.picture(pictures[k], k / fps, 1 / fps), len(pictures))
    cores = (time.process_time() - cpu) * fps / len(pictures)
    report.add("record a picture", "ms", spent)
    report.add("    the same, all the time", "cores", [cores])
    cpu, packets = time.process_time(), round(50 * len(pictures) / fps)
    spent = clocked(lambda k: take.sound(samples, k * 0.02), packets)
    report.add("record 20 ms of sound", "ms", spent)
    report.add("    the same, all the time", "cores", [(time.process_time() - cpu) * 50 / packets])
    take.close(len(pictures) / fps)
    film = sum(len(each.film) for each in take.fragments())
    report.add("a recording takes", "Mbit/s", [film * 8 * fps / len(pictures) / 1e6])


async def stream(report: Report, frames: Any, case: Case, seconds: float) -> None:
    """Run a gated model as a host does, and report what a viewer would see."""
    live = LiveStream([VIDEO], settings=MediaSettings(), clock=CLOCK)
    live.start(asyncio.get_running_loop())
    got: list[tuple[float, EncodedFrame]] = []
    live.subscribe(Rendition("main", Codec.VP8), lambda frame: got.append((CLOCK.now(), frame)))
    stopped, room = threading.Event(), threading.Event()
    live.on_room(room.set)

    def model() -> None:
        step = 0
        while not stopped.is_set():
            stopped.wait(max(0.0, (live.step_at(1) or 0.0) - CLOCK.now()))
            begun = CLOCK.now()
            time.sleep(case.step_s())
            picture = frames[step % len(frames)][None]
            spent = CLOCK.now() - begun
            while not live.has_room(1) and not stopped.is_set():
                room.wait(0.2)
                room.clear()
            live.put(
                Chunk(
                    video={"main": picture},
                    audio={},
                    metadata={"main": (begun,)},
                    started_at=begun,
                    compute_s=spent,
                    pinned_fps=case.fps,
                )
            )
            step += 1

    thread = threading.Thread(target=model)
    thread.start()
    cpu = time.process_time()
    await asyncio.sleep(seconds)
    cpu = (time.process_time() - cpu) / seconds
    stopped.set()
    thread.join()
    late = live.stats()["late_chunks"]
    live.stop()
    seen = got[12:]
    name = case.name
    report.add(f"{name}: step begins to encoded", "ms", [t - f.metadata for t, f in seen])
    report.add("    its time to encoded", "ms", [t - f.presented_at for t, f in seen])
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(seen)]
    report.add("    between two frames", "ms", gaps)
    report.add("    late chunks", "", [late])
    report.add("    CPU", "cores", [cpu])


async def idle(report: Report, seconds: float) -> None:
    for heard in (False, True):
        live = LiveStream([VIDEO, SOUND], settings=MediaSettings(), clock=CLOCK)
        live.start(asyncio.get_running_loop())
        if heard:
            live.subscribe(Rendition("main", Codec.VP8), lambda _: None)
            live.subscribe(Rendition("voice", Codec.OPUS), lambda _: None)
        cpu = time.process_time()
        await asyncio.sleep(seconds)
        cpu = (time.process_time() - cpu) / seconds
        live.stop()
        report.add(f"idle, {'heard' if heard else 'alone'}", "cores", [cpu])


def main() -> None:
    parser = options(__doc__ or "")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--fps", type=float, default=24.0)
    parser.add_argument("--seconds", type=float, default=5.0)
    wanted = parser.parse_args()
    seconds = 1.5 if wanted.quick else wanted.seconds
    sys.setswitchinterval(0.0005)
    rnd, report = random.Random(3), Report()
    frames = moving(60, wanted.width, wanted.height)
    report.note(f"{wanted.width}x{wanted.height} at {wanted.fps:g} fps")
    costs(report, frames, wanted.fps)
    for case in (
        Case("1 ms steps", wanted.fps, lambda: 0.001),
        Case("5 to 30 ms steps", wanted.fps, lambda: rnd.uniform(0.005, 0.030)),
        Case("60 ms steps, no fps", None, lambda: 0.060),
    ):
        asyncio.run(stream(report, frames, case, seconds))
    asyncio.run(idle(report, seconds))
    report.finish(wanted.json)


if __name__ == "__main__":
    main()
