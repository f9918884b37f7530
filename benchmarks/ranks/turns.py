"""Turns of a served model on ranks: how often a chunk comes, converted as for viewers."""

import asyncio
import time

from paints_chunks import PaintsChunks

from reactor_runtime.host.events import ClientJoined, SessionStarted
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.silent_host_outlet import SilentHostOutlet
from reactor_runtime.host.worker_pool_host import WorkerPoolHost
from reactor_runtime.media.picture import PictureMaker

TURNS = 60


class Outlet(SilentHostOutlet):
    """Converts every chunk, has always room, and keeps the reports."""

    def __init__(self):
        self.reports, self.ended_at, self.copies = [], [], []
        self.enough = asyncio.Event()
        self.loop = asyncio.get_running_loop()
        self.maker = PictureMaker()

    def step_at(self, frames, coming=0):
        return time.monotonic()

    def put(self, chunk, wanted=None):
        began = time.perf_counter()
        self.maker.convert(chunk.video["main_video"])
        self.copies.append(time.perf_counter() - began)

    def step_done(self, report):
        self.reports.append(report)
        self.ended_at.append(time.perf_counter())
        if len(self.reports) == TURNS:
            self.loop.call_soon_threadsafe(self.enough.set)

    def ignore(self, *told):
        pass

    message = reply = unread = set_fps = session_opened = session_closed = ignore


async def turns(world_size):
    """Return seconds: from chunk to chunk, and of a step and its conversion one after the other."""
    outlet = Outlet()
    host = WorkerPoolHost(
        PaintsChunks,
        outlet=outlet,
        pool=PoolSettings(world_size=world_size, init_process_group=False),
        settings=HostSettings(),
    )
    async with host:
        host.post(SessionStarted(session_id="bench", seed=1))
        host.post(ClientJoined(client_id="viewer", joined_at=0.0))
        await outlet.enough.wait()
    periods = [b - a for a, b in zip(outlet.ended_at[5:], outlet.ended_at[6:], strict=False)]
    steps = [max(report.ranks.compute_s) for report in outlet.reports[5:TURNS]]
    apart = [step + copy for step, copy in zip(steps, outlet.copies[5:], strict=False)]
    return {"turn": periods[: TURNS - 6], "turn_apart": apart}
