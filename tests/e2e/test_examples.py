"""The three examples as they are, on one rank and on two, watched with the public Python SDK."""

import contextlib
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.e2e.serving import ROOT, own_address, serving
from tests.e2e.sources import film, sending, sing
from tests.e2e.strain import strain
from tests.e2e.tones import strongest_hz

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from reactor_sdk import ReactorError
from tests.e2e.sdk_viewer import SdkViewer, viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]

SPLICES_HZ = 6.0  # a viewer that catches up leaves bits of sound out, and a spectrum shows it


class Senses:
    """The newest picture and all the sound of one viewer."""

    def __init__(self, viewer: SdkViewer) -> None:
        self.picture: NDArray[np.uint8] = np.zeros((1, 1, 3), np.uint8)
        self._sound: list[NDArray[np.int16]] = []
        self._viewer, self._lock = viewer, threading.Lock()
        viewer.reactor.track("main_video").on_frame(self._see)

    def listen(self) -> None:
        """Keep what is heard from now on."""
        self._viewer.reactor.track("main_audio").on_frame(self._hear)

    def _see(self, frame: NDArray[np.uint8]) -> None:
        self.picture = frame

    def _hear(self, frame: NDArray[np.int16]) -> None:
        with self._lock:
            self._sound.append(frame[:, 0])

    def heard(self) -> NDArray[np.int16]:
        """Return everything heard so far."""
        with self._lock:
            return np.concatenate([np.zeros(0, np.int16), *self._sound])

    async def until(self, condition: Callable[[], Any], timeout_s: float = 8.0) -> None:
        """Wait for *condition* to hold at a picture that arrives."""
        await self._viewer.until(condition, timeout_s * strain())


@pytest.fixture(params=[1, 2], ids=["one_rank", "two_ranks"])
def ranks(request: pytest.FixtureRequest) -> int:
    number: int = request.param
    return number


@contextlib.asynccontextmanager
async def watching(example: str, ranks: int) -> AsyncIterator[tuple[SdkViewer, Senses]]:
    flags = ("--world-size", str(ranks))
    folder = ROOT / "examples" / example
    with serving(folder, *flags, REACTOR_INIT_PROCESS_GROUP="false") as served:
        async with viewing(served.url) as viewer:
            yield viewer, Senses(viewer)
            assert viewer.errors == []
        served.wait_for_state("ready")
        assert "error" not in served.log()


async def test_worldlet_is_steered_seen_and_heard(ranks: int) -> None:
    async with watching("worldlet", ranks) as (viewer, senses):
        senses.listen()
        await viewer.frames(10)
        day = float(senses.picture.mean())
        assert senses.picture.shape == (360, 640, 3)
        assert await viewer.reactor.send_command("set_sun", {"sun": 0}) is None
        await senses.until(lambda: senses.picture.mean() < 0.6 * day)
        reply = await viewer.reactor.send_command("where", {})
        assert reply is not None
        assert reply["type"] == "position"
        await viewer.reactor.send_command("travel", {"place": "ridge"})
        assert await viewer.message("traveled") == {"place": "ridge"}
        with pytest.raises(ReactorError) as refusal:
            await viewer.reactor.send_command("travel", {"place": "nowhere"})
        assert refusal.value.code == "no_such_place"
        await senses.until(lambda: len(senses.heard()) > 48_000)
        assert np.abs(senses.heard()[-24_000:]).max() > 100


async def test_webcam_returns_what_is_sent_into_it_changed(ranks: int) -> None:
    async with watching("webcam", ranks) as (viewer, senses):
        camera = await viewer.reactor.track("camera").publish()
        microphone = await viewer.reactor.track("microphone").publish()
        picture = np.zeros((240, 320, 3), np.uint8)
        picture[:, :160] = (220, 30, 30)
        async with sending(film(camera, lambda: picture), sing(microphone)):
            await senses.until(lambda: senses.picture.shape == picture.shape)
            await senses.until(lambda: senses.picture[:, -40:, 0].mean() > 150)  # mirrored
            await viewer.reactor.send_command("set_effect", {"effect": "none"})
            await senses.until(lambda: senses.picture[:, :40, 0].mean() > 150)
            await viewer.reactor.send_command("set_effect", {"effect": "invert"})
            await viewer.reactor.send_command("set_strength", {"strength": 1})
            await senses.until(lambda: senses.picture[:, -40:].mean() > 200)
            senses.listen()
            await senses.until(lambda: len(senses.heard()) > 72_000)
            assert strongest_hz(senses.heard()[-24_000:]) == pytest.approx(440, abs=SPLICES_HZ)
            await viewer.reactor.send_command("set_strength", {"strength": 0.5})
            await viewer.reactor.send_command("set_voice", {"voice": "robot"})
            at = len(senses.heard())
            await senses.until(lambda: len(senses.heard()) > at + 72_000)
            robot_hz = strongest_hz(senses.heard()[-24_000:])
            assert abs(robot_hz - 440) == pytest.approx(75, abs=SPLICES_HZ)  # ring modulation


async def test_clock_shows_another_hour_and_rings(ranks: int) -> None:
    offset = away_from_the_minute_hand()
    async with watching("clock", ranks) as (viewer, senses):
        await senses.until(lambda: hour_hand_is_at(senses.picture, 0))
        assert not hour_hand_is_at(senses.picture, offset)
        reply = await viewer.reactor.send_command("set_offset_hours", {"offset_hours": offset})
        assert reply is None
        await senses.until(lambda: hour_hand_is_at(senses.picture, offset))
        await viewer.reactor.send_command("set_alarm", {"seconds": 0.2, "label": "tea"})
        assert await viewer.message("alarm", timeout_s=3) == {"label": "tea"}


def away_from_the_minute_hand() -> int:
    """An offset in hours that moves the hour hand to where no other dark hand is."""
    minute_hand = time.time() / 300 % 12
    return next(h for h in (3, 6, 9) if 1 < (time.time() / 3600 + h - minute_hand) % 12 < 11)


def hour_hand_is_at(picture: NDArray[np.uint8], offset_hours: int) -> bool:
    side, angle = len(picture), (time.time() / 3600 + offset_hours) % 12 / 12 * 2 * np.pi
    reach = 0.35 * side / 2.2
    at = picture[
        int(side / 2 - reach * np.cos(angle)), int(side / 2 + reach * np.sin(angle)) % side
    ]
    return bool(side > 1 and at.max() < 110)
