"""Worker groups that a model under test builds by itself, in this process."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reactor_runtime.distributed.worker_group import WorkerGroup

_HOME = "reactor_runtime.distributed.worker_group"
_VARIABLE = "REACTOR_WORKERS"


@contextmanager
def own_workers(workers: int | None) -> Iterator[None]:
    """Let groups built inside have *workers* ranks unless they say; end those that are left."""
    before, set_before = _living_groups(), os.environ.get(_VARIABLE)
    if workers is not None:
        os.environ[_VARIABLE] = str(workers)
    try:
        yield
    finally:
        if workers is not None:
            del os.environ[_VARIABLE]
            if set_before is not None:
                os.environ[_VARIABLE] = set_before
        for group in _living_groups():
            if not any(group is other for other in before):
                group.shutdown()


def _living_groups() -> "list[WorkerGroup]":
    """Return every group of this process that has ranks.

    A model keeps its group wherever it likes, so all objects are looked through; where no group was
    ever made, none are.
    """
    if _HOME not in sys.modules:
        return []
    group_class = sys.modules[_HOME].WorkerGroup
    found = [each for each in gc.get_objects() if issubclass(type(each), group_class)]
    return [group for group in found if group.pids]
