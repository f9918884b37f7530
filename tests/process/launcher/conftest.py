"""One cluster for the tests that leave it as it was, one each for those that do not."""

from collections.abc import Iterator

import pytest
from tests.process.launcher.cluster import Cluster, running

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
