"""Workers for the tests: one that behaves, and one that breaks as told."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
from tests.process.distributed.faults import FAULTS

from reactor_runtime.distributed.worker import DistributedWorker

SHAPE = (4, 12, 16, 3)


class Painter(DistributedWorker):
    """Paints chunks in each of the three patterns, and notes what it was asked."""

    def setup(self, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self.diary: list[Any] = []

    def warmup(self) -> None:
        self.diary.append("warmup")

    def start_session(self, params: Any) -> None:
        if params == "refuse" or params == f"refuse on {self.rank}":
            raise ValueError("no session today")
        self.diary.append(("start", params, self.seed))

    def end_session(self) -> None:
        self.diary.append("end")

    def generate_chunk(self, index: int, controls: Any) -> Any:
        pattern, *rest = controls if isinstance(controls, tuple) else (controls,)
        return getattr(self, pattern)(index, *rest)

    def leader(self, index: int, frames: int = SHAPE[0]) -> Any:
        return np.full((frames, *SHAPE[1:]), index, np.uint8) if self.is_leader else None

    def last_rank(self, index: int) -> Any:
        is_last = self.rank == self.world_size - 1
        return np.full(SHAPE, index, np.uint8) if is_last else None

    def everyone(self, index: int) -> Any:
        return np.full(SHAPE, 10 * index + self.rank, np.uint8)

    def frames_axis(self, index: int) -> int:
        each = SHAPE[0] // self.world_size
        begin = self.rank * each
        self.frames[begin : begin + each] = 10 * index + self.rank
        return begin + each

    def bands(self, index: int) -> int:
        each = SHAPE[1] // self.world_size
        begin = self.rank * each
        self.frames.array()[:3, begin : begin + each] = 10 * index + self.rank
        return 3

    def in_place(self, index: int) -> int:
        rows = self.frames.array()
        rows[self.rank :: self.world_size] = index
        return len(rows)

    def nothing(self, index: int) -> None:
        return None

    def returns(self, index: int, value: Any, rank: int = 0) -> Any:
        return value if self.rank == rank else None

    def raise_on(self, index: int, rank: int) -> None:
        if self.rank == rank:
            raise KeyError(f"chunk {index}")

    def die(self, index: int, rank: int) -> None:
        if self.rank == rank:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)

    def sleep(self, index: int, seconds: float, rank: int) -> None:
        if self.rank == rank:
            time.sleep(seconds)

    def keep_open(self, index: int, folder: str) -> None:
        self.file = Path(folder, f"rank{self.rank}").open("w")  # noqa: SIM115
        self.file.write("the last word")

    def keep_for_good(self, index: int, folder: str) -> None:
        sys.__dict__["its_worker"] = self  # a module keeps it, and with it its file
        self.me = self
        self.keep_open(index, folder)

    def note(self, index: int, folder: str) -> None:
        Path(folder, f"rank{self.rank}").write_text(repr(self.diary))

    def describe(self, index: int, folder: str) -> None:
        facts = (self.rank, self.world_size, self.local_rank, self.device, self.is_leader)
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR")
        loaded = sorted(sys.modules)
        text = repr({"facts": facts, "env": {n: os.environ[n] for n in names}, "mods": loaded})
        Path(folder, f"rank{self.rank}").write_text(text)

    def spawn(self, index: int, folder: str) -> None:
        plain = subprocess.Popen(["sleep", "300"])
        away = subprocess.Popen(["sleep", "300"], start_new_session=True)
        Path(folder, f"rank{self.rank}").write_text(f"{plain.pid} {away.pid}")

    def ignore_sigterm(self, index: int) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def prints(self, index: int, text: str) -> None:
        print(text)  # noqa: T201
        print("to stderr", text, file=sys.stderr)  # noqa: T201


def break_down(fault: str, marks: str) -> None:
    """Do *fault*, and say when."""
    if marks:
        Path(marks, "reached").write_text(repr(time.monotonic()))
    FAULTS[fault]()


if os.environ.get("BREAK_ON_IMPORT") == os.environ.get("RANK", "no rank"):
    break_down(os.environ["FAULT"], os.environ["MARKS"])


class Breaks(DistributedWorker):
    """Breaks in the phase, on the rank and in the way it was told."""

    def setup(self, *, where: int, phase: str, fault: str, marks: str = "") -> None:
        self.plan = (where, phase, fault)
        self.marks = marks
        if phase == "exit" and where == self.rank:
            import atexit

            atexit.register(self.reach, "exit")
        self.reach("setup")

    def warmup(self) -> None:
        self.reach("warmup")

    def start_session(self, params: Any) -> None:
        self.reach("start_session")

    def generate_chunk(self, index: int, controls: Any) -> None:
        self.reach("generate_chunk")
        if self.plan[:2] == (self.rank, "idle") and index == 0:
            threading.Timer(0.1, self.reach, ["idle"]).start()

    def end_session(self) -> None:
        self.reach("end_session")

    def reach(self, phase: str) -> None:
        where, planned, fault = self.plan
        if self.rank == where and phase == planned:
            break_down(fault, self.marks)


class HangsUp(DistributedWorker):
    """Rank 1 closes whatever joins it to the group, and lives on."""

    def generate_chunk(self, index: int, controls: Any) -> None:
        if self.rank == 1:
            os.closerange(3, 1024)
            time.sleep(60)
