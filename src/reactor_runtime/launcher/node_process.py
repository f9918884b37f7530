"""NodeProcess: torchrun under its keeper on this node, from start to the last process gone."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Lock

from reactor_runtime.launcher.agent_messages import Outcome
from reactor_runtime.launcher.exit_reports import rank_failures
from reactor_runtime.launcher.failures import Gravity, RankFailure
from reactor_runtime.launcher.network import NodeAddress
from reactor_runtime.launcher.node_log import NodeLog
from reactor_runtime.launcher.plan import TaskPlan
from reactor_runtime.launcher.task_keeper import TIMED_OUT_STATUS
from reactor_runtime.launcher.torchrun import (
    NodePlace,
    keeper_argv,
    scrubbed,
    task_environment,
    torchrun_argv,
)

_POLL_S = 0.1
_END_S = 15.0  # longer than a keeper's grace and sweep


def place_here(
    attempt_id: str, address: NodeAddress, log_dir: str, cores: int, resume_from: str | None
) -> NodePlace:
    """Return this node's place in an attempt, its ranks run by this interpreter."""
    return NodePlace(
        attempt_id=attempt_id,
        python=sys.executable,
        address=address.address,
        interface=address.interface,
        log_dir=log_dir,
        cores=cores,
        resume_from=resume_from,
    )


class NodeProcess:
    """Started, watched and ended by one thread; ``cancel`` and ``assure`` from any.

    Args:
        task: What is run.
        endpoint: Where the nodes meet.
        place: What is known of this node.
        work_dir: The ranks' working directory.
        held: Descriptors that are to stay open for as long as anything of it runs.
    """

    def __init__(
        self,
        task: TaskPlan,
        endpoint: str,
        place: NodePlace,
        work_dir: Path,
        held: Sequence[int] = (),
    ) -> None:
        self._task, self._work_dir, self._held = task, work_dir, held
        self._log_dir = Path(place.log_dir)
        self._torchrun_log = self._log_dir / "torchrun.log"
        self._argv = torchrun_argv(task, endpoint, place)
        self._environment = task_environment(task, endpoint, place)
        self._python = place.python
        self._keeper: subprocess.Popen[bytes] | None = None
        self._lock = Lock()

    def run(
        self, silence_s: float, sink: Callable[[bytes], None], stop: Event
    ) -> tuple[Outcome, list[RankFailure]]:
        """Run torchrun to its end; nothing of it is left when this returns.

        The kernel ties the keeper to the calling thread.

        Args:
            silence_s: Seconds without ``assure`` after which the keeper ends the task.
            sink: Takes tagged log lines.
            stop: Once set, the task is cancelled.
        """
        keeper = self._keeper = self._start(silence_s)
        try:
            self._follow(keeper, sink, stop)
        finally:
            self._end(keeper)
        return self._verdict(keeper.returncode, was_stopped=stop.is_set())

    def assure(self) -> None:
        """Tell the keeper that somebody still wants the task."""
        self._say(b".")

    def cancel(self) -> None:
        """Have the keeper end the task: SIGTERM, then SIGKILL."""
        self._say(b"c")

    def _start(self, silence_s: float) -> "subprocess.Popen[bytes]":
        self._log_dir.mkdir(parents=True, exist_ok=True)
        job = self._task.job
        with self._torchrun_log.open("wb") as output:
            return subprocess.Popen(
                keeper_argv(self._argv, self._python, silence_s, job.timeout_s),
                cwd=self._work_dir,
                env={
                    **scrubbed(os.environ),
                    **self._environment,
                    "REACTOR_AGENT_PID": str(os.getpid()),
                },
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self._held,
            )

    def _follow(
        self, keeper: "subprocess.Popen[bytes]", sink: Callable[[bytes], None], stop: Event
    ) -> None:
        """Hand on what is printed until the keeper has ended, which *stop* has it do."""
        task = self._task
        log = NodeLog(task.job.name, task.node_rank, task.ranks[0], task.job.procs_per_worker)
        is_cancelled = False
        while keeper.poll() is None:
            if is_cancelled:
                _wait_a_little(keeper)
            elif stop.wait(_POLL_S):
                is_cancelled = True
                self.cancel()
            for lines in log.poll(self._log_dir, self._torchrun_log):
                sink(lines)
        for lines in log.poll(self._log_dir, self._torchrun_log, is_last=True):
            sink(lines)

    def _end(self, keeper: "subprocess.Popen[bytes]") -> None:
        """Return when the keeper is gone: the end of its input tells it to take all along."""
        self._close_pipe(keeper)
        try:
            keeper.wait(_END_S)
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.wait()

    def _say(self, word: bytes) -> None:
        with self._lock:
            pipe = self._keeper.stdin if self._keeper is not None else None
            if pipe is not None and not pipe.closed:
                try:
                    os.write(pipe.fileno(), word)
                except BrokenPipeError:
                    return

    def _close_pipe(self, keeper: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if keeper.stdin is not None:
                keeper.stdin.close()

    def _verdict(self, status: int, *, was_stopped: bool) -> tuple[Outcome, list[RankFailure]]:
        if status == 0:
            return Outcome.SUCCEEDED, []
        failures = rank_failures(self._task, self._log_dir, self._torchrun_log)
        if any(f.gravity is not Gravity.STOPPED for f in failures):
            return Outcome.FAILED, failures
        if was_stopped:
            return Outcome.CANCELLED, []
        return Outcome.FAILED, [self._node_failure(status), *failures]

    def _node_failure(self, status: int) -> RankFailure:
        node = self._task.node_rank
        if status == TIMED_OUT_STATUS:
            words = f"ran longer than timeout_s, {self._task.job.timeout_s:g} s"
            return RankFailure(node_rank=node, message=words)
        if status < 0:
            return RankFailure(node_rank=node, exit_code=status, message="the keeper of torchrun")
        code = 128 - status if status > 128 else status
        return RankFailure(node_rank=node, exit_code=code, message="torchrun itself")


def _wait_a_little(keeper: subprocess.Popen[bytes]) -> None:
    try:
        keeper.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return
