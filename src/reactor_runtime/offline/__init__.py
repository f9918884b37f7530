"""A model without clients: a fixed number of turns, commands at given turns, frames in a file.

``run_offline`` is the way in. ``python -m reactor_runtime.offline FOLDER`` is the same as a
program, fit to be the entry point of a job: ``module:reactor_runtime.offline``.
"""

from reactor_runtime.offline.offline_run import OfflineRun, run_offline

__all__ = ["OfflineRun", "run_offline"]
