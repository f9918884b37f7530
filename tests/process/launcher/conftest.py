"""One cluster for the tests that leave it as it was, one each for those that do not."""

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest
from tests.process.launcher.cluster import Cluster, bearing, running
from tests.process.launcher.commands import MARK

pytest.importorskip("torch", reason="the launcher runs torchrun; install torch")


@pytest.fixture(scope="package")
def shared() -> Iterator[Cluster]:
    """Two agents of two procs, which tests may give jobs to and nothing else."""
    with running() as cluster:
        yield cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Two agents of two procs, which a test may kill."""
    with running() as cluster:
        yield cluster


@pytest.fixture
def no_command_left() -> Iterator[None]:
    """End what a failed test has left, and say so."""
    yield
    left = bearing(MARK)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert left == {}
