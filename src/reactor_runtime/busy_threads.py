"""Which threads of ours are in somebody else's code, and so cannot be ended."""

import threading

IMPORT_THREAD = "reactor-import"
MODEL_THREAD = "model-"  # and the class's name after it


def busy_threads() -> list[str]:
    """Return the threads of ours that are still in the author's code, or in an import."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith((MODEL_THREAD, IMPORT_THREAD))]
