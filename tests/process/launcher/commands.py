"""Commands of the launcher as processes of their own, and jobs for them."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.process.cli import command_line, environment
from tests.process.launcher.cluster import SCRIPTS

EXAMPLE = Path(__file__).parents[3] / "examples" / "launch" / "all_reduce.yaml"
MARK = f"TEST_MARK=commands-{os.getpid()}"


def start(
    *arguments: str, cwd: Path, prefix: Sequence[str] = (), **env: str
) -> "subprocess.Popen[str]":
    key, value = MARK.split("=")
    return subprocess.Popen(
        [*prefix, *command_line(*arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(**{key: value}, **env),
    )


def write_job(folder: Path, script: str, *args: str, **more: object) -> Path:
    file = folder / "job.yaml"
    shutil.copytree(SCRIPTS, folder / "source")
    lines = [f"{key}: {value}" for key, value in more.items()]
    file.write_text(
        f"name: job\nsource: source\nentrypoint: {script}\nargs: {list(args)}\n"
        f"env: {{TEST_FOLDER: {folder}}}\nnum_workers: 2\n" + "\n".join(lines)
    )
    return file
