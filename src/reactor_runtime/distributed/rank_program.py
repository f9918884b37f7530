"""The life of a rank after it is tied to its parent: import, construct, serve verbs, leave."""

import os
import sys
import time
from typing import Any, TextIO

from reactor_runtime.distributed.failure_report import describe_failure
from reactor_runtime.distributed.messages import Call, Exit, Launch, Place, Reached, Ready
from reactor_runtime.distributed.parcel import ParcelReader
from reactor_runtime.distributed.rank import Rank
from reactor_runtime.distributed.rank_environment import IMPORTING
from reactor_runtime.distributed.rank_line import RankLine
from reactor_runtime.distributed.rank_log import adopt_what_is_loaded, write_log_to


class RankProgram:
    """Runs one rank.

    Args:
        line: What joins it to the group.
        log: Where structured log lines go.
    """

    def __init__(self, line: RankLine, log: TextIO) -> None:
        self._line = line
        self._log = log
        self._in_group = False
        self._has_structlog = False

    def run(self) -> None:
        """Live from the first message to the last."""
        launch, _ = ParcelReader(shares=False).unpack(self._line.receive())
        rank = self._take_place(launch)
        worker = self._construct(launch, rank)
        if worker is not None:
            self._serve(rank, worker)

    def _take_place(self, launch: Launch) -> Rank:
        sys.path[:] = launch.folders
        os.chdir(launch.working_folder)
        write_log_to(self._log, launch.log_level)
        return Rank(self._line, launch.world)

    def _construct(self, launch: Launch, rank: Rank) -> Any:
        """Return the worker; ``None`` when author code raised: the group has been told."""
        from reactor_runtime.distributed.process_group import use_device

        phase = "import"
        try:
            worker_class = launch.worker.load()
            os.environ.pop(IMPORTING, None)
            self._has_structlog = adopt_what_is_loaded()
            if launch.membership is not None:
                phase = "init_process_group"
                rank.send(Reached(phase))
                self._join(launch, rank)
            elif "torch" in sys.modules:
                use_device(rank.world.device)
            phase = "construct"
            rank.send(Reached(phase))
            worker = worker_class()
            rank.seat(worker)
        except BaseException as error:  # noqa: BLE001 - author code may raise anything, SystemExit too
            rank.send(describe_failure(error, phase))
            self._wait_for_the_end(rank)
            return None
        rank.send(Ready())
        return worker

    def _join(self, launch: Launch, rank: Rank) -> None:
        from reactor_runtime.distributed.process_group import join_group

        assert launch.membership is not None
        join_group(launch.membership, rank.world)
        self._in_group = True

    def _serve(self, rank: Rank, worker: Any) -> None:
        while True:
            if rank.while_idle is not None:
                rank.while_idle()
            try:
                message = rank.receive()
            except BaseException as error:  # noqa: BLE001 - contents of a message that do not come back
                rank.send(describe_failure(error, ""))
                continue
            if isinstance(message, Call):
                rank.begin(message)
                del message  # whatever keeps the contents alive must be the author's
                self._answer(rank, worker)
            elif isinstance(message, Place):
                rank.place(message)
            elif isinstance(message, Exit):
                self._leave()
                return

    def _answer(self, rank: Rank, worker: Any) -> None:
        began = time.perf_counter()
        try:
            self._has_structlog = self._has_structlog or adopt_what_is_loaded()
            payload = rank.perform(worker)
            rank.answer(payload, time.perf_counter() - began)
        except BaseException as error:  # noqa: BLE001 - author code may raise anything, SystemExit too
            rank.fail(error)

    def _leave(self) -> None:
        if self._in_group:
            from reactor_runtime.distributed.process_group import leave_group

            leave_group()

    @staticmethod
    def _wait_for_the_end(rank: Rank) -> None:
        while not isinstance(rank.receive(), Exit):
            pass
