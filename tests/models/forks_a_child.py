"""Forks a process of its own while it loads, and writes down its number."""

import multiprocessing
import os
import time
from pathlib import Path
from typing import Any

from reactor_runtime import ReactorModel


class ForksAChild(ReactorModel):
    def load(self, config_path: Any) -> None:
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(120,))
        child.start()
        Path(os.environ["CHILD"]).write_text(str(child.pid))

    def generate(self, input: Any) -> None:
        return None
