"""newest_checkpoint: where a job that starts again goes on."""

import re
from pathlib import Path

MARKER = "COMPLETE"
_STEP = re.compile(r"(\d+)\D*$")


def newest_checkpoint(folder: Path) -> str | None:
    """Return the complete checkpoint of the highest step in *folder*, ``None`` if there is none.

    A checkpoint is a sub-folder whose name ends in its step's number; it is complete once it holds
    the file ``COMPLETE``, which its writer moves into place last.
    """
    steps = {}
    for path in folder.glob("*/"):
        number = _STEP.search(path.name)
        if number and (path / MARKER).is_file():
            steps[int(number.group(1))] = path
    return str(steps[max(steps)].resolve()) if steps else None
