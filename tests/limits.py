"""A limit of the system's on this process and on what it starts, for a while."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def limited(which: int, most: int) -> Iterator[None]:
    """Have the soft limit *which* (``resource.RLIMIT_…``) be *most* inside."""
    soft, hard = resource.getrlimit(which)
    resource.setrlimit(which, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(which, (soft, hard))
