"""Where a model's files lie."""

import os
from pathlib import Path

WEIGHTS_VARIABLE = "REACTOR_WEIGHTS_PATH"


def get_weights_path(*parts: str) -> Path:
    """Return the folder of the model's weights, or the path *parts* lead to in it.

    The folder is ``runtime.weights_path`` of the manifest or ``REACTOR_WEIGHTS_PATH``; in a process
    that knows neither, ``weights`` in the current folder. It need not exist.
    """
    folder = os.environ.get(WEIGHTS_VARIABLE) or "weights"
    return Path(folder).expanduser().absolute().joinpath(*parts)
