"""Models that only look, and models whose clock is what they hear, with the public Python SDK."""

import threading
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.e2e.serving import own_address, serving
from tests.e2e.tones import strongest_hz

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import SdkViewer, viewing
from tests.e2e.sources import film, sending, sing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]


async def test_three_cameras_are_seen_apart_by_a_model_that_shows_nothing() -> None:
    greys = {"left": 60, "middle": 120, "right": 180}
    with serving("tests.models.compares_three_cameras:ComparesThreeCameras") as served:
        async with viewing(served.url) as viewer:
            cameras = {name: await viewer.reactor.track(name).publish() for name in greys}
            films = (film(cameras[name], partial(plain, grey)) for name, grey in greys.items())
            async with sending(*films):
                await viewer.until(lambda: len(seen(viewer)) > 20, 30)
            assert viewer.errors == []
        for found in seen(viewer)[5:20]:
            assert found == pytest.approx(list(greys.values()), abs=4)
        served.wait_for_state("ready")
        assert "error" not in served.log()


def plain(grey: int) -> NDArray[np.uint8]:
    return np.full((120, 160, 3), grey, np.uint8)


def seen(viewer: SdkViewer) -> list[list[float]]:
    return [message["data"]["greys"] for message in viewer.messages if message["type"] == "seen"]


async def test_a_model_that_hears_and_answers_keeps_time_by_what_it_hears() -> None:
    with serving("tests.models.talks_back:TalksBack") as served:
        async with viewing(served.url) as viewer:
            heard, lock = list[NDArray[np.int16]](), threading.Lock()

            def hear(frame: NDArray[np.int16]) -> None:
                with lock:
                    heard.append(frame[:, 0].copy())

            viewer.reactor.track("main_audio").on_frame(hear)
            microphone = await viewer.reactor.track("microphone").publish()
            async with sending(sing(microphone)):
                await viewer.frames(25)
                before = len(viewer.pictures)
                await viewer.frames(50)
            times = [at for at, _ in viewer.pictures[before : before + 50]]
            assert (times[-1] - times[0]) / 49 == pytest.approx(
                1 / 12.5, rel=0.15
            )  # it shifts when late
            with lock:
                sound = np.concatenate(heard)[-72_000:-9600]
            assert strongest_hz(sound) == pytest.approx(440, abs=2)
            assert viewer.errors == []
        served.wait_for_state("ready")
        assert "error" not in served.log()
