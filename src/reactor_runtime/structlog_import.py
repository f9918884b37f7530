"""Loads structlog without rich.

structlog imports rich where it is installed, for a style of tracebacks that no line of ours has,
and that would be 45 ms of every start.
"""

import sys


def import_structlog() -> None:
    """Import structlog, and rich with it only if rich is there already."""
    if "structlog" in sys.modules or "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # how Python spells "not to be found"
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
