"""What unit tests of several packages share."""

import logging
import sys
import threading
import warnings
from collections.abc import Iterator

import hypothesis
import pytest

# Other work on the machine must not fail an example for being slow.
hypothesis.settings.register_profile("unhurried", deadline=None)
hypothesis.settings.load_profile("unhurried")


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """``configure`` changes the process: put everything back."""
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    hooks = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    formatwarning = warnings.formatwarning
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    sys.excepthook, threading.excepthook, sys.unraisablehook = hooks
    logging.captureWarnings(False)
    warnings.formatwarning = formatwarning
    import structlog

    structlog.reset_defaults()
