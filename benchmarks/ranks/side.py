"""One side of the distributed benchmark, in its own interpreter; asked as ``answering`` says.

python side.py MODULE:RUNNER WORLD_SIZE

Its ranks stay from one question to the next, so that sides can be asked in turn.
"""

import asyncio
import contextlib
import importlib
import os
import signal
import sys
import threading
import time
from functools import cached_property

import numpy as np
from answering import answer, timed
from bench_worker import SHAPE, Worker


def children():
    found = set()
    for task in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as file:
            found |= set(map(int, file.read().split()))
    return found


def is_rank(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        line = file.read()
        return b"spawn_main" in line or b"worker_main" in line
    return False


class Side:
    def __init__(self, runner, world_size):
        module, name = runner.split(":")
        self.runner_class = getattr(importlib.import_module(module), name)
        self.world_size = world_size
        self.ends = contextlib.ExitStack()

    def make(self):
        return self.runner_class(Worker, world_size=self.world_size, init_process_group=False)

    @cached_property
    def runner(self):
        runner = self.make()
        self.ends.callback(runner.shutdown)
        runner.start()
        return runner

    def start(self):
        runner = self.make()
        samples = timed(runner.start, 1, warm=0)
        runner.shutdown()
        return samples

    def round_trip(self):
        return timed(lambda: self.runner.generate(None), 100, warm=10)

    def out(self):
        return timed(lambda: self.runner.generate("chunk"), 4, warm=2)

    @cached_property
    def chunk(self):
        return np.random.default_rng(1).integers(0, 256, SHAPE, dtype=np.uint8)

    def inward(self):
        return timed(lambda: self.runner.generate(self.chunk), 4, warm=2)

    def death(self):
        others, runner, killed = children(), self.make(), []
        runner.start()
        victim = max(filter(is_rank, children() - others))

        def kill():
            killed.append(time.perf_counter())
            os.kill(victim, signal.SIGKILL)

        threading.Timer(0.3, kill).start()
        try:
            runner.generate("slow")
        except Exception:  # noqa: BLE001 - each side has its own
            return [time.perf_counter() - killed[0]]
        finally:
            with contextlib.suppress(Exception):
                runner.shutdown()
        raise SystemExit("nobody saw the death")

    # --- only of ours ------------------------------------------------------------------------

    @cached_property
    def group(self):
        from group_worker import Worker as GroupWorker

        from reactor_runtime.experimental import WorkerGroup

        group = WorkerGroup(
            GroupWorker, self.world_size, frame_shape=SHAPE, init_process_group=False
        )
        self.numbers = iter(range(10**9))
        return self.ends.enter_context(group)

    def view(self):
        return timed(lambda: self.group.generate(next(self.numbers), "returned"), 4, warm=2)

    def in_place(self):
        return timed(lambda: self.group.generate(next(self.numbers), "in place"), 40, warm=10)

    def turn(self):
        from turns import turns

        return asyncio.run(turns(self.world_size))


if __name__ == "__main__":
    side = Side(sys.argv[1], int(sys.argv[2]))
    with side.ends:
        answer(side)
