"""What is seen is of now: at the model, at the viewer, and after a command."""

import re
import time
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.sources import film, sending
from tests.e2e.strain import strain
from tests.models.burnt_number import age, read_number
from tests.models.shows_its_age import now_ms, picture_of

pytest.importorskip("reactor_sdk", reason="the public client has no build for this Python")

from tests.e2e.sdk_viewer import SdkViewer, viewing

pytestmark = [
    pytest.mark.sdk,
    pytest.mark.skipif(own_address() is None, reason="the SDK finds no candidates on lo alone"),
]
MODELS = "tests.models.shows_its_age"


class Reader:
    """Reads the number in every picture of a viewer."""

    def __init__(self, viewer: SdkViewer) -> None:
        self.viewer = viewer
        self.seen: list[tuple[float, int, int, bool]] = []  # when, when in ms, number, flag
        viewer.reactor.track("main_video").on_frame(self._see)

    def _see(self, frame: NDArray[np.uint8]) -> None:
        is_flagged = bool(frame[60:, 100:200].mean() > 160)
        self.seen.append((time.monotonic(), now_ms(), read_number(frame), is_flagged))

    @property
    def numbers(self) -> list[int]:
        return [number for _, _, number, _ in self.seen]

    def ages_ms(self) -> list[int]:
        return [age(now, number) for _, now, number, _ in self.seen]


def figure(served: Served, name: str) -> float:
    """The sum of a figure over its labels."""
    found = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", served.get("/metrics")[1], re.MULTILINE)
    return sum(float(value) for value in found)


async def test_a_slow_model_sees_the_newest_picture_of_a_camera() -> None:
    """Camera 30 fps, model 2 fps."""
    with serving(f"{MODELS}:LooksTwiceASecond") as served:
        async with viewing(served.url) as viewer:
            camera = await viewer.reactor.track("webcam").publish()
            async with sending(film(camera, lambda: picture_of(now_ms()))):
                await viewer.until(lambda: len(viewer.messages) >= 8)
            looks = [message["data"] for message in viewer.messages][1:]
            ages = [age(int(look["at_ms"]), int(look["stamp"])) for look in looks]
            stamps = [int(look["stamp"]) for look in looks]
            assert all(age(later, earlier) > 0 for earlier, later in pairwise(stamps))
            assert max(ages) < 500 * strain()  # the step adds 500
            assert figure(served, "reactor_input_frames_dropped_total") > 60


async def test_a_fast_model_shows_the_newest_picture_on_a_slow_track() -> None:
    """Model 60 fps, track 10 fps."""
    with serving(f"{MODELS}:EmitsTooOften") as served:
        async with viewing(served.url) as viewer:
            reader = Reader(viewer)
            await viewer.frames(30)
            ages = reader.ages_ms()[10:]
            assert np.median(ages) < 230 * strain()  # two periods and the way
            assert max(ages) < 400 * strain()
            assert all(age(later, earlier) > 0 for earlier, later in pairwise(reader.numbers))
            assert figure(served, "reactor_frames_dropped_total") > 100


@pytest.mark.parametrize(("model", "chunk"), [("StepsFast", 1), ("StepsInChunks", 12)])
async def test_a_command_shows_within_a_chunk_and_the_rate_is_held(model: str, chunk: int) -> None:
    """A step of 1 ms, 15 fps declared."""
    with serving(f"{MODELS}:{model}") as served:
        async with viewing(served.url) as viewer:
            reader = Reader(viewer)
            await viewer.frames(2 * chunk + 5)
            first, began = await steps(viewer), time.monotonic()
            await viewer.frames(48)
            last, took_s = await steps(viewer), time.monotonic() - began
            assert (last - first) * chunk == pytest.approx(15 * took_s, abs=(2 + chunk) * strain())
            for flag in (True, False):
                asked = time.monotonic()
                await viewer.reactor.send_command("set_flag", {"flag": flag})
                await viewer.until(lambda flag=flag: reader.seen[-1][3] is flag)
                took_s = time.monotonic() - asked
                assert took_s < max(2, chunk) / 15 + 0.15 * strain()
            numbers = reader.numbers
            assert all(age(later, earlier) > 0 for earlier, later in pairwise(numbers))
            gaps = np.diff([at for at, _, _, _ in reader.seen])[5:]
            assert np.percentile(np.abs(gaps - 1 / 15), 90) < 0.03 * strain()


async def steps(viewer: SdkViewer) -> int:
    reply = await viewer.reactor.send_command("count", {})
    assert reply is not None
    return int(reply["data"]["steps"])
