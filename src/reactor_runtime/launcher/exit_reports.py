"""rank_failures: how the ranks of one node failed, from what they and torchrun left behind."""

import json
import re
from pathlib import Path
from typing import Any

from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.plan import TaskPlan

_MAX_BYTES = 1024**2
_MAX_TRACEBACK = 16_000
_MAX_MESSAGE = 2_000
# torchrun reports a rank that died without an exception nowhere but in these lines.
_FAILED = re.compile(r"failed \(exitcode: (-?\d+)\) local_rank: (\d+)")
_SUMMARY = re.compile(r"rank\s*: (\d+) \(local_rank: (\d+)\)\s+exitcode\s*: (-?\d+)")


def rank_failures(task: TaskPlan, log_dir: Path, torchrun_log: Path) -> list[RankFailure]:
    """Return one failure for each rank that is known to have failed, in the order of ranks."""
    codes = exit_codes(_text(torchrun_log))
    failures = []
    for local, rank in enumerate(task.ranks):
        files = sorted(log_dir.glob(f"*/attempt_0/{local}/error.json"))
        said = _read_report(files[0]) if files else None
        if said is None and local not in codes:
            continue
        failure = RankFailure(node_rank=task.node_rank, rank=rank, **(said or {}))
        if local in codes:
            failure = failure.model_copy(update={"exit_code": codes[local]})
        failures.append(failure)
    return failures


def exit_codes(torchrun_says: str) -> dict[int, int]:
    """Return the exit code of each local rank that torchrun names; negative for a signal."""
    found = {int(local): int(code) for _, local, code in _SUMMARY.findall(torchrun_says)}
    for code, local in _FAILED.findall(torchrun_says):
        found.setdefault(int(local), int(code))
    return found


def _read_report(path: Path) -> dict[str, Any] | None:
    """Return what a rank has said of its end, as fields of a ``RankFailure``."""
    try:
        tree = json.loads(_text(path))["message"]
        extra = tree.get("extraInfo", {}) if isinstance(tree, dict) else {}
        said = str(tree["message"] if isinstance(tree, dict) else tree)
    except (ValueError, KeyError, TypeError):
        return None
    kind, colon, message = said.partition(": ")
    if not colon or not kind.isidentifier():
        kind, message = "", said
    if kind == "SystemExit":
        kind, message = "", ""
    code, at = extra.get("exit_code"), extra.get("time_s")
    return {
        "kind": kind,
        "message": message[:_MAX_MESSAGE],
        "traceback": str(extra.get("py_callstack", ""))[-_MAX_TRACEBACK:],
        "exit_code": code if isinstance(code, int) else None,
        "at": at if isinstance(at, float) else None,
    }


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
