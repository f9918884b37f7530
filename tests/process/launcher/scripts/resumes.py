"""A rank that writes one checkpoint and fails, until there are two: resumes.py FOLDER."""

import os
import sys
from pathlib import Path

folder = Path(sys.argv[1])
newest = os.environ.get("REACTOR_RESUME_FROM")
if os.environ["RANK"] == "0":
    name = Path(newest).name if newest else "None"
    with (folder / "trace").open("a") as trace:
        trace.write(f"{name}\n")
    step = int(name.partition("-")[2] or 0) + 1 if newest else 1
    if step < 3:
        made = folder / f"step-{step}"
        made.mkdir()
        (made / "COMPLETE.part").touch()
        (made / "COMPLETE.part").rename(made / "COMPLETE")
        (folder / f"step-{step + 7}").mkdir()  # never completed
        sys.exit(9)
