"""Older import paths of the author's surface; everything lives in ``reactor_runtime``."""

import reactor_runtime
from reactor_runtime import *  # noqa: F403

__all__ = reactor_runtime.__all__
