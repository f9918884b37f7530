"""Sound arrives whole, at its pitch and without a gap, whatever its rate, type and chunks."""

import asyncio
import time

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.e2e.serving import own_address, serving
from tests.e2e.strain import strain
from tests.e2e.tones import longest_quiet_s, strongest_hz
from tests.e2e.wire_client import WireClient, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

MODELS = "tests.models.sings"
LISTEN_S = 3.0


@pytest.mark.parametrize("singer", ["Int16At16", "FloatStereoAt44", "FloatSecondsAt48"])
async def test_a_tone_arrives_whole_at_its_pitch_without_a_gap(singer: str) -> None:
    with serving(f"{MODELS}:{singer}") as served:
        async with wire_client(served.url, ("voice", "audio")) as client:
            sound, took_s = await listen(client)
        assert len(sound) / 48_000 == pytest.approx(took_s, abs=0.2 * strain() ** 2)  # jitter
        assert strongest_hz(sound) == pytest.approx(440, abs=2)
        assert longest_quiet_s(sound) < 0.02 * strain() ** 2
        level = np.abs(sound.astype(float)).mean() / 32767
        assert level == pytest.approx(0.3 * 2 / np.pi, rel=0.1)
        assert "error" not in served.log()


async def listen(client: WireClient) -> tuple[NDArray[np.int16], float]:
    """Return what is heard in ``LISTEN_S`` and how long it took; the RTP clock must not jump."""
    heard = client.frames["voice"]
    await until(lambda: len(heard) > 25)  # it has begun
    first, began = len(heard), time.monotonic()
    await asyncio.sleep(LISTEN_S)  # the length of what is listened to
    frames, took_s = heard[first:], time.monotonic() - began
    times = [frame.pts for frame in frames]
    assert np.diff(times).tolist() == [frame.samples for frame in frames[:-1]]
    return np.concatenate([frame.to_ndarray()[0, ::2] for frame in frames]), took_s


@pytest.mark.parametrize(
    ("what", "named"), [("dtype", ("complex64",)), ("shape", ("(960, 1, 1)",))]
)
async def test_what_is_no_sound_is_refused_by_name(what: str, named: tuple[str, ...]) -> None:
    with serving(f"{MODELS}:Int16At16") as served:
        async with wire_client(served.url, ("voice", "audio")) as client:
            await client.call("sing_wrong", {"what": what})
            await until(lambda: any(m.HasField("session_ended") for m in client.notices))
            assert "FrameError" in next(m.error.message for m in client.replies if m.error.code)
        for word in (*named, "voice", "16000"):
            assert word in served.log()
