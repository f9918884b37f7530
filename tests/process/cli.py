"""Runs the ``reactor`` command as a person does: as a process, seen from outside."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DEADLINE_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "reactor_runtime.cli.main", *arguments]


def environment(**extra: str) -> dict[str, str]:
    """The environment of this process without settings of ours, and *extra*."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REACTOR_")}
    return kept | extra


def reactor(
    *arguments: str, cwd: Path | None = None, prefix: Sequence[str] = (), **env: str
) -> Ran:
    """Run ``reactor`` with *arguments* to its end."""
    done = subprocess.run(
        [*prefix, *command_line(*arguments)],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        cwd=cwd,
        env=environment(**env),
        stdin=subprocess.DEVNULL,
    )
    return Ran(status=done.returncode, out=done.stdout, err=done.stderr)


def write_model(folder: Path, manifest: str = "runtime:\n  import: model:M\n", **more: str) -> Path:
    """Write a small model into *folder*; *more* are further modules, or another ``model``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reactor.yaml").write_text(manifest)
    for name, text in {"model": MODEL, **more}.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


MODEL = '''\
"""A small model."""

import numpy as np

from reactor_runtime import InputField, InputState, Output, ReactorPipeline, Video


class State(InputState):
    hue: float = InputField(default=0.5, ge=0, le=1, description="Colour.")


class Shown(Output):
    main_video: Video


class M(ReactorPipeline):
    """Grey."""

    state: State
    fps = 24

    def load(self, config_path):
        raise AssertionError("nothing loads a model here")

    def inference(self):
        while True:
            yield Shown(main_video=np.zeros((36, 64, 3), np.uint8))
'''
