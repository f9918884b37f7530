"""One side of the distributed benchmark, in its own interpreter: samples in seconds, as JSON.

python side.py MODULE:RUNNER WORLD_SIZE PART...
"""

import asyncio
import contextlib
import importlib
import json
import os
import signal
import sys
import threading
import time

import numpy as np
from bench_worker import SHAPE, Worker


def timed(action, count, warm=0):
    for _ in range(warm):
        action()
    samples = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        samples.append(time.perf_counter() - began)
    return samples


def children():
    found = []
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as file:
            found += map(int, file.read().split())
    return found


def ranks():
    """The youngest children that look like ranks: both sides start them last."""
    found = []
    for pid in children():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            line = file.read()
            if b"spawn_main" in line or b"worker_main" in line:
                found.append(pid)
    return found


class Side:
    def __init__(self, runner, world_size):
        module, name = runner.split(":")
        self.runner_class = getattr(importlib.import_module(module), name)
        self.world_size = world_size

    @contextlib.contextmanager
    def running(self):
        runner = self.runner_class(Worker, world_size=self.world_size, init_process_group=False)
        runner.start()
        try:
            yield runner
        finally:
            runner.shutdown()

    def start(self):
        def once():
            runner = self.runner_class(Worker, world_size=self.world_size, init_process_group=False)
            began = time.perf_counter()
            runner.start()
            samples.append(time.perf_counter() - began)
            runner.shutdown()

        samples = []
        for _ in range(5):
            once()
        return samples

    def empty(self):
        with self.running() as runner:
            return timed(lambda: runner.generate(None), 1000, warm=50)

    def out(self):
        with self.running() as runner:
            return timed(lambda: runner.generate("chunk"), 40, warm=4)

    def inward(self):
        chunk = np.random.default_rng(1).integers(0, 256, SHAPE, dtype=np.uint8)
        with self.running() as runner:
            return timed(lambda: runner.generate(chunk), 40, warm=4)

    def death(self):
        samples = []
        for _ in range(3):
            with contextlib.suppress(Exception), self.running() as runner:
                victim = ranks()[-1]
                killed = []

                def kill(victim=victim, killed=killed):
                    killed.append(time.perf_counter())
                    os.kill(victim, signal.SIGKILL)

                threading.Timer(0.3, kill).start()
                try:
                    runner.generate("slow")
                except Exception:  # noqa: BLE001 - each side has its own
                    samples.append(time.perf_counter() - killed[0])
        return samples

    # --- only of a WorkerGroup ---------------------------------------------------------------

    def chunks(self, how):
        from group_worker import Worker as GroupWorker

        from reactor_runtime.experimental import WorkerGroup

        numbers = iter(range(10**9))
        with WorkerGroup(
            GroupWorker, self.world_size, frame_shape=SHAPE, init_process_group=False
        ) as group:
            return timed(lambda: group.generate(next(numbers), how), 60, warm=6)

    def view(self):
        return self.chunks("returned")

    def in_place(self):
        return self.chunks("in place")

    def turn(self):
        from turns import turns

        return asyncio.run(turns(self.world_size))


def main():
    runner, world_size, *parts = sys.argv[1:]
    side = Side(runner, int(world_size))
    measured = {}
    for part in parts:
        found = getattr(side, part)()
        measured |= found if isinstance(found, dict) else {part: found}
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
