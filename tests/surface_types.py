"""Asks pyright whether the types of every name an author imports are known to any type checker.

``pyright --verifytypes`` looks at the whole package; only what ``reactor_runtime`` exports, and the
members of it, is held to it here. pyright fetches itself when it first runs: where it cannot,
nothing is checked.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import reactor_runtime

BIN = Path(sys.executable).parent
COMMAND = [str(BIN / "pyright"), "--outputjson", "--ignoreexternal", "--verifytypes"]


def surface() -> tuple[str, ...]:
    """Return where each exported class and function is defined."""
    things = [getattr(reactor_runtime, name) for name in reactor_runtime.__all__]
    homes = [(thing.__module__, thing.__qualname__) for thing in things if callable(thing)]
    return tuple(
        f"{module}.{name}" for module, name in homes if module.startswith("reactor_runtime")
    )


def main() -> int:
    done = subprocess.run(
        [*COMMAND, "reactor_runtime"],
        capture_output=True,
        text=True,
        check=False,
        cwd=BIN,  # a folder without a project file
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
    )
    try:
        symbols = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    except (ValueError, KeyError):
        sys.stdout.write(
            f"pyright does not run here, types of the surface unchecked: {done.stderr}\n"
        )
        return 0
    names = surface()
    unclear = [
        f"{symbol['name']}: {symbol['diagnostics'][0]['message'] if symbol['diagnostics'] else ''}"
        for symbol in symbols
        if not symbol["isTypeKnown"] or symbol.get("isTypeAmbiguous")
        if any(symbol["name"] == name or symbol["name"].startswith(f"{name}.") for name in names)
    ]
    sys.stdout.write("".join(f"{line}\n" for line in unclear))
    checked = sum(symbol["name"].startswith(names) for symbol in symbols)
    sys.stdout.write(f"types of {checked} symbols of the surface, {len(unclear)} unclear\n")
    return 1 if unclear or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
