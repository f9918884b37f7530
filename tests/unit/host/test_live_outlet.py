"""A served instance whose server has ended: its author's threads may go on as if nothing were."""

import asyncio
from typing import Any, ClassVar

import numpy as np
from tests.contract.model_host.recording_outlet import RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage
from tests.models.parts import Note, Picture, flat

from reactor_runtime import ReactorModel
from reactor_runtime.host.in_process_host import InProcessHost


class Remembered(ReactorModel):
    instance: ClassVar[Any] = None

    def load(self, config_path: Any) -> None:
        type(self).instance = self

    def generate(self, input: Any) -> Picture:
        return Picture(main_video=np.zeros((4, 6, 3), np.uint8))


async def test_what_comes_after_the_end_goes_nowhere() -> None:
    outlet = RecordingOutlet()
    async with InProcessHost(Remembered, outlet=outlet) as host:
        stage = Stage(host, outlet)
        stage.open()
        await stage.shown()
    model, shown = Remembered.instance, len(outlet.of(Shown))

    async def use() -> None:
        await model.emit(Picture(main_video=flat(1)))
        await model.send(Note(text="late"))

    await use()
    await asyncio.to_thread(asyncio.run, use())
    await asyncio.to_thread(model.output.flush)
    assert len(outlet.of(Shown)) == shown
    assert "late" not in outlet.texts
