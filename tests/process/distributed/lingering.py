"""A worker that stays for ever in the phase it was told, with a child of its own."""

import atexit
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from reactor_runtime.distributed.worker import DistributedWorker


def linger(phase: str) -> None:
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    Path(os.environ["WHOSE"], f"{phase}{os.environ['RANK']}").touch()
    if phase != "idle":
        time.sleep(300)


if os.environ.get("LINGER") == "import" and "RANK" in os.environ:
    linger("import")


class Lingers(DistributedWorker):
    def setup(self, *, phase: str) -> None:
        self.phase = phase
        if phase == "exit":
            atexit.register(linger, "exit")
        self.reach("setup")

    def warmup(self) -> None:
        self.reach("warmup")

    def start_session(self, params: Any) -> None:
        self.reach("start_session")

    def generate_chunk(self, index: int, controls: Any) -> None:
        self.reach("generate_chunk")

    def end_session(self) -> None:
        self.reach("end_session")
        self.reach("idle")

    def reach(self, phase: str) -> None:
        if phase == self.phase:
            linger(phase)
