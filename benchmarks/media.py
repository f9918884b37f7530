"""What the media part costs on this machine, without a network: one table.

python benchmarks/media.py [--width 1280] [--height 720] [--fps 24] [--seconds 5]
"""

import argparse
import asyncio
import itertools
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from reactor_runtime.clock import SystemClock
from reactor_runtime.host.host_outlet import Chunk
from reactor_runtime.media.audio_encoder import PACKET_SAMPLES, AudioEncoder
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.media.picture import PictureMaker
from reactor_runtime.media.threads import threads_for
from reactor_runtime.media.video_encoder import VideoEncoder, VideoFormat
from reactor_runtime.media.video_encoding import bitrate_for
from reactor_runtime.model.tracks import Track, TrackDirection, TrackKind
from reactor_runtime.recording.mp4_writer import AudioTrack, VideoTrack
from reactor_runtime.recording.take import Take

CLOCK = SystemClock()
VIDEO = Track(name="main", kind=TrackKind.VIDEO, direction=TrackDirection.OUT)
SOUND = Track(name="voice", kind=TrackKind.AUDIO, direction=TrackDirection.OUT, sample_rate=48_000)


def moving(count: int, width: int, height: int) -> Any:
    """Return a textured picture that pans, ``(T, H, W, 3)``."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0 : height + count * 2, 0 : width + count * 4]
    waves = [np.sin(x / a) + np.cos(y / b) for a, b in ((31, 43), (17, 71), (97, 23))]
    texture = 128 + 50 * np.stack(waves, -1) + rng.normal(0, 6, (*x.shape, 3))
    texture = np.clip(texture, 0, 255).astype(np.uint8)
    return np.stack([texture[2 * k : 2 * k + height, 4 * k : 4 * k + width] for k in range(count)])


def row(name: str, values_ms: list[float], note: str = "") -> None:
    ordered = sorted(values_ms)
    p50, p99 = statistics.median(ordered), ordered[int(len(ordered) * 0.99)]
    print(f"{name:<44}{p50:>9.2f}{p99:>9.2f}   {note}", flush=True)


def clocked(work: Callable[[int], object], times: int) -> list[float]:
    spent = []
    for index in range(times):
        begun = time.perf_counter()
        work(index)
        spent.append((time.perf_counter() - begun) * 1e3)
    return spent[3:]


def costs(frames: Any, fps: float) -> None:
    height, width = frames.shape[1:3]
    maker, settings = PictureMaker(), MediaSettings()
    row("convert to I420", clocked(lambda k: maker.convert(frames[k : k + 1]), len(frames)))
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
        row(f"encode {codec}", spent, f"{rate:.1f} of {bitrate / 1e6:.1f} Mbit/s")
    opus, samples = AudioEncoder(96_000), np.zeros((PACKET_SAMPLES, 2), np.int16)
    samples[:] = (8000 * np.sin(np.arange(PACKET_SAMPLES) / 17))[:, None]
    row("encode opus, 20 ms", clocked(lambda k: opus.encode(samples, k * 960), 100))
    size, audio = (width, height), AudioTrack()
    take = Take(0.0, chunk_s=2.0, video=VideoTrack(size=size, fps=fps), audio=audio)
    cpu = time.process_time()
    spent = clocked(lambda k: take.picture(pictures[k], k / fps, 1 / fps), len(pictures))
    cores = (time.process_time() - cpu) * fps / len(pictures)
    row("record a picture", spent, f"{cores:.3f} core at {fps:g} fps")
    cpu, packets = time.process_time(), round(50 * len(pictures) / fps)
    spent = clocked(lambda k: take.sound(samples, k * 0.02), packets)
    row("record 20 ms of sound", spent, f"{(time.process_time() - cpu) * 50 / packets:.3f} core")
    take.close(len(pictures) / fps)
    film = sum(len(each.film) for each in take.fragments())
    print(f"{'a recording takes':<44}{film * 8 * fps / len(pictures) / 1e6:>9.2f}   Mbit/s")


async def stream(
    name: str, frames: Any, step_s: Callable[[], float], *, fps: float | None, seconds: float
) -> None:
    """Run a gated model as a host does, and print what a viewer would see."""
    live = LiveStream([VIDEO], settings=MediaSettings(), clock=CLOCK)
    live.start(asyncio.get_running_loop())
    got: list[tuple[float, EncodedFrame]] = []
    live.subscribe("main", Codec.VP8, lambda frame: got.append((CLOCK.now(), frame)))
    stopped, room = threading.Event(), threading.Event()
    live.on_room(room.set)

    def model() -> None:
        step = 0
        while not stopped.is_set():
            stopped.wait(max(0.0, (live.step_at(1) or 0.0) - CLOCK.now()))
            begun = CLOCK.now()
            time.sleep(step_s())
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
                    pinned_fps=fps,
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
    note = f"{len(got) / seconds:.1f} fps, {late} late chunks, {cpu:.2f} core"
    row(f"{name}: step begins → encoded", [(t - f.metadata) * 1e3 for t, f in seen], note)
    row("    its time → encoded", [(t - f.presented_at) * 1e3 for t, f in seen])
    row(
        "    between two frames",
        [(b[0] - a[0]) * 1e3 for a, b in itertools.pairwise(seen)],
    )


async def idle(seconds: float) -> None:
    for heard in (False, True):
        live = LiveStream([VIDEO, SOUND], settings=MediaSettings(), clock=CLOCK)
        live.start(asyncio.get_running_loop())
        if heard:
            live.subscribe("main", Codec.VP8, lambda _: None)
            live.subscribe("voice", Codec.OPUS, lambda _: None)
        cpu = time.process_time()
        await asyncio.sleep(seconds)
        cpu = (time.process_time() - cpu) / seconds
        live.stop()
        print(
            f"{'idle, ' + ('heard' if heard else 'alone') + ': % of a core':<44}{100 * cpu:>9.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="What the media part costs here.")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--fps", type=float, default=24.0)
    parser.add_argument("--seconds", type=float, default=5.0)
    wanted = parser.parse_args()
    sys.setswitchinterval(0.0005)
    rnd = random.Random(3)
    frames = moving(60, wanted.width, wanted.height)
    print(f"{f'{wanted.width}x{wanted.height}@{wanted.fps:g}, ms':<44}{'p50':>9}{'p99':>9}")
    costs(frames, wanted.fps)
    for name, fps, step_s in (
        ("1 ms steps", wanted.fps, lambda: 0.001),
        ("5 to 30 ms steps", wanted.fps, lambda: rnd.uniform(0.005, 0.030)),
        ("60 ms steps, no fps", None, lambda: 0.060),
    ):
        asyncio.run(stream(name, frames, step_s, fps=fps, seconds=wanted.seconds))
    asyncio.run(idle(wanted.seconds))


if __name__ == "__main__":
    main()
