"""Starts out of the ordinary: a long import path, no open files left, a bad environment."""

import errno
import os
import resource
import selectors
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from tests.limits import limited
from tests.process.distributed.traces import open_files
from tests.process.distributed.workers import Painter

from reactor_runtime.distributed.teardown import Ending
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import WorkerError

MakeGroup = Callable[..., WorkerGroup]

SPARE_FILES = 40


@contextmanager
def all_open_files_taken(but: int) -> Iterator[None]:
    """Let this process open *but* files more."""
    taken = [os.dup(0)]
    with limited(resource.RLIMIT_NOFILE, taken[0] + SPARE_FILES):
        try:
            while len(taken) <= 2 * SPARE_FILES:
                try:
                    taken.append(os.dup(0))
                except OSError:
                    break
            for _ in range(but):
                os.close(taken.pop())
            yield
        finally:
            for file in taken:
                os.close(file)


def test_a_long_import_path_is_in_no_later_calls_way(
    make_group: MakeGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, *(f"/nowhere/{n:0100}" for n in range(400))])
    group = make_group(Painter)
    group.start()
    for index in range(3):  # as large as the import path, and so in a block too
        told = ("returns", np.full((3, 64, 64, 3), index, np.uint8))
        assert np.all(group.generate(index, told) == index)


@pytest.mark.parametrize("but", [1, 2, 5, 7, 11, 15])
def test_a_start_without_open_files_leaves_nothing(make_group: MakeGroup, but: int) -> None:
    group = make_group(Painter)
    before = open_files()
    with all_open_files_taken(but), pytest.raises(OSError, match="Too many open files"):
        group.start()
    group.shutdown()
    assert (group.state, group.pids) == ("shut down", ())
    assert open_files() == before


def test_a_start_without_room_to_watch_files_leaves_nothing(
    make_group: MakeGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: selectors.DefaultSelector, *file: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")  # epoll's word for too many

    group = make_group(Painter)
    before = open_files()
    monkeypatch.setattr(selectors.DefaultSelector, "register", refuse)
    with pytest.raises(OSError, match="No space left"):
        group.start()
    group.shutdown()
    assert open_files() == before


def test_a_bad_environment_is_an_error_at_the_start(make_group: MakeGroup) -> None:
    group = make_group(Painter, env={"PLACE": "here\0there"})
    before = open_files()
    with pytest.raises(ValueError, match="null"):
        group.start()
    group.shutdown()
    assert open_files() == before


class Ponders(Painter):
    def start_session(self, params: object) -> None:
        if not self.is_leader:
            time.sleep(1.0)
        raise ValueError("no session today")


def test_ranks_may_settle_for_ever(make_group: MakeGroup) -> None:
    group = make_group(Ponders, settle_timeout=0)
    group.start()
    with pytest.raises(WorkerError, match="no session today") as caught:
        group.start_session()
    assert (caught.value.ranks, group.healthy) == ((0, 1), True)
    group.shutdown()
    assert set(group.endings.values()) == {Ending.BY_ITSELF}
