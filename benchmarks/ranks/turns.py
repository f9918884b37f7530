"""Turns of a model on ranks, as a host runs them for viewers, without viewers.

python turns.py WORLD_SIZE COUNT     seconds from turn to turn of a model that does nothing
"""

import asyncio
import json
import sys
import time

from paints_chunks import PaintsChunks, PaintsNothing

from reactor_runtime.host.events import ClientJoined, SessionStarted
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.in_process_host import InProcessHost
from reactor_runtime.media.picture import PictureMaker

TURNS = 60


class Outlet:
    """Has always room, and keeps the reports of some turns; of any version of this package."""

    def __init__(self, count):
        self.count = count
        self.reports, self.ended_at = [], []
        self.enough = asyncio.Event()
        self.loop = asyncio.get_running_loop()

    def step_at(self, frames, coming=0):
        return time.monotonic()

    def has_room(self, frames):
        return True

    def step_done(self, report):
        self.reports.append(report)
        self.ended_at.append(time.perf_counter())
        if len(self.reports) == self.count:
            self.loop.call_soon_threadsafe(self.enough.set)

    def ignore(self, *told):
        pass

    on_room = put = dropped = unread = flush = set_fps = message = reply = ignore
    step_begun = session_opened = session_closed = failed = ignore


class ConvertingOutlet(Outlet):
    """Converts every chunk as for viewers, and keeps how long that takes."""

    def __init__(self, count):
        super().__init__(count)
        self.copies = []
        self.maker = PictureMaker()

    def put(self, chunk, wanted=None):
        began = time.perf_counter()
        self.maker.convert(chunk.video["main_video"])
        self.copies.append(time.perf_counter() - began)


async def run(model, world_size, count, outlet_class=ConvertingOutlet):
    """Run *count* turns on a host as it is served, and return the outlet that saw them."""
    outlet = outlet_class(count)
    if world_size == 1:
        host = InProcessHost(model, outlet=outlet)
    else:
        from reactor_runtime.host.pool_settings import PoolSettings
        from reactor_runtime.host.worker_pool_host import WorkerPoolHost

        pool = PoolSettings(world_size=world_size, init_process_group=False)
        host = WorkerPoolHost(model, outlet=outlet, pool=pool, settings=HostSettings())
    async with host:
        host.post(SessionStarted(session_id="bench", seed=1))
        host.post(ClientJoined(client_id="viewer", joined_at=0.0))
        await outlet.enough.wait()
    return outlet


def periods(outlet, after):
    """Return seconds from turn to turn, once the first ones are over."""
    ends = outlet.ended_at[: outlet.count]
    return [b - a for a, b in zip(ends[after:], ends[after + 1 :], strict=False)]


async def bare_turns():
    """Return seconds of turns in process that do nothing, nor does their outlet."""
    return periods(await run(PaintsNothing, 1, 600, Outlet), 100)


async def turns(world_size):
    """Return seconds: from chunk to chunk, and of a step and its conversion one after the other."""
    outlet = await run(PaintsChunks, world_size, TURNS)
    steps = [max(report.ranks.compute_s) for report in outlet.reports[5:TURNS]]
    apart = [step + copy for step, copy in zip(steps, outlet.copies[5:], strict=False)]
    return {"turn": periods(outlet, 5), "turn_apart": apart}


if __name__ == "__main__":
    world_size, count = map(int, sys.argv[1:])
    print(json.dumps(periods(asyncio.run(run(PaintsNothing, world_size, count)), count // 10)))
