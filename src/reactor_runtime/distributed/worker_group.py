"""WorkerGroup: N processes of one class in lockstep.

Start, one verb to all, every reply, shut down. The engine under a model of several ranks; it knows
neither models nor clients. Experimental where authors use it by hand.
"""

import os
import secrets
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from reactor_runtime.distributed.call_result import CallResult, widest
from reactor_runtime.distributed.class_reference import refer_to
from reactor_runtime.distributed.deadline import Deadline
from reactor_runtime.distributed.frame_parts import ONLY_TRACK, Shape
from reactor_runtime.distributed.group_life import GroupLife, GroupListeners
from reactor_runtime.distributed.group_limits import GroupLimits
from reactor_runtime.distributed.group_start import GroupStart, check_arguments, plan_here
from reactor_runtime.distributed.group_state import GroupEvent, GroupState
from reactor_runtime.distributed.hang_report import stacks_of
from reactor_runtime.distributed.rank_environment import refuse_inside_a_rank
from reactor_runtime.distributed.shared_frame_buffer import SharedFrameBuffer
from reactor_runtime.distributed.teardown import Ending
from reactor_runtime.distributed.verbs import (
    EndSession,
    GenerateChunk,
    Setup,
    StartSession,
    Verb,
    Warmup,
)
from reactor_runtime.errors import ReactorError
from reactor_runtime.log import get_logger

log = get_logger(__name__)


class WorkerGroup:
    """Runs one worker class on every rank of a world, each rank a process of its own.

    Every method broadcasts one verb to all ranks and returns when all have answered: then all have
    finished, their writes included. One call at a time; only ``shutdown`` may come from another
    thread. ``with`` starts and shuts down. Experimental.

    Args:
        worker_class: The class, at the top level of a module; see ``DistributedWorker``.
        world_size: Number of ranks; unless given, ``runtime.workers`` of the manifest, else the
            number of visible devices, else 1. A group of one is a process too.
        setup_kwargs: Arguments of ``setup``.
        frame_shape: Shape of one chunk, frames first. Needed to write in place; a longer chunk
            that is returned as an array makes the buffer grow.
        frame_dtype: Its numpy type.
        init_process_group: Whether ranks join a torch process group before their worker is made.
        device: ``cpu``, ``cuda``, or ``cuda:<n>`` for a group of one; unless given, what there is.
        comm_backend: ``gloo`` or ``nccl``; unless given, what suits the device.
        oversubscribe: Whether there may be more ranks than devices; implies gloo.
        env: Environment variables of the ranks.
        turn_timeout: Seconds a call may take; 0 for no bound, as for all of these.
        first_turn_timeout: Seconds the first chunk may take (compilation).
        load_timeout: Seconds from the start to the end of ``warmup``.
        settle_timeout: Seconds all ranks have to answer after one failed in ``start_session``,
            and to leave at the end (5 where it is 0).
        comm_timeout: Seconds a collective may wait; unless given, longer than loading and turns.

    Attributes:
        listeners: Who is told of a death between calls, and of what ranks say beside answers.

    Raises:
        WorkerGroupRefusedError: It cannot be started like that: class, devices, backend, or place.
    """

    def __init__(  # noqa: PLR0913 - a published signature
        self,
        worker_class: type[Any],
        world_size: int | None = None,
        *,
        setup_kwargs: Mapping[str, Any] | None = None,
        frame_shape: Shape | None = None,
        frame_dtype: str = "uint8",
        init_process_group: bool = True,
        device: str | None = None,
        comm_backend: str | None = None,
        oversubscribe: bool = False,
        env: Mapping[str, str] | None = None,
        turn_timeout: float = 60.0,
        first_turn_timeout: float = 600.0,
        load_timeout: float = 1800.0,
        settle_timeout: float = 5.0,
        comm_timeout: float | None = None,
    ) -> None:
        refuse_inside_a_rank(os.environ)
        self._reference = refer_to(worker_class)
        self._plan = plan_here(world_size, device, comm_backend, init_process_group, oversubscribe)
        self._limits = GroupLimits(
            load_s=load_timeout,
            first_turn_s=first_turn_timeout,
            turn_s=turn_timeout,
            settle_s=settle_timeout,
            comm_s=comm_timeout,
        )
        self._environment = dict(env or {})
        self._setup = Setup(dict(setup_kwargs or {}))
        self._frame = (tuple(frame_shape or ()), frame_dtype)
        ring = SharedFrameBuffer(
            {ONLY_TRACK: tuple(frame_shape)} if frame_shape else {}, frame_dtype
        )
        self.listeners = GroupListeners()
        self._life = GroupLife(ring, self._limits, self.listeners)
        self._has_turned = False

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return len(self._plan.worlds)

    @property
    def healthy(self) -> bool:
        """Whether all ranks live and a call is possible, or running."""
        living = (GroupState.READY, GroupState.CALLING, GroupState.SUSPENDED)
        return self._life.state in living

    @property
    def state(self) -> str:
        """What the group is doing, in words."""
        return self._life.state.value

    @property
    def failure(self) -> ReactorError | None:
        """The error that broke the group."""
        return self._life.failure

    @property
    def endings(self) -> Mapping[int, Ending]:
        """How each rank's process ended, once it has."""
        return self._life.endings

    @property
    def pids(self) -> tuple[int, ...]:
        """The ranks' processes; empty when there are none."""
        return tuple(process.pid for process in self._life.processes)

    def start(self, verbs: Sequence[Verb] | None = None) -> None:
        """Start the ranks, then ``setup`` and ``warmup`` on all of them.

        Args:
            verbs: What to do instead of ``worker.setup(**setup_kwargs)`` and ``worker.warmup()``.

        Raises:
            WorkerGroupRefusedError: The arguments of ``setup`` cannot be carried to a rank.
            WorkerError: A rank raised.
            WorkerCrashed: A rank died, or was silent past the load timeout.
            MemoryShortError: There is no memory for the frames.
        """
        check_arguments(self._setup.kwargs)
        order = GroupStart.prepare(
            self._reference, self._plan, self._environment, self._limits.collective_s
        )
        self._life.start(order, (self._setup, Warmup()) if verbs is None else verbs)

    def call(self, verb: Verb, timeout_s: float | None = None, label: str = "") -> CallResult:
        """Have every rank do *verb*; the one call all others are made of.

        Args:
            verb: What to do.
            timeout_s: Seconds the ranks have, 0 for ever; the turn timeout unless given.
            label: What to call the frames while readers hold them.

        Raises:
            WorkerError: A rank raised.
            WorkerCrashed: A rank died or was silent.
            RankDesync: The ranks differ.
            FramesHeldError: Readers hold all slots for frames; nothing was done.
        """
        deadline = Deadline.after(self._limits.turn_s if timeout_s is None else timeout_s)
        return self._life.call(
            lambda conductor: conductor.call(verb, deadline, label), GroupEvent.CALL, verb.phase
        )

    def resume(self, payload: object, timeout_s: float | None = None) -> CallResult:
        """Let the call that all ranks suspended go on, each with *payload*; raises as ``call``."""
        deadline = Deadline.after(self._limits.turn_s if timeout_s is None else timeout_s)
        return self._life.call(
            lambda conductor: conductor.resume(payload, deadline), GroupEvent.RESUME, "resume"
        )

    def start_session(self, params: Any = None, seed: int | None = None) -> int:
        """Start a session on every rank.

        Args:
            params: Handed to ``worker.start_session``.
            seed: Seeds every rank alike; drawn and logged unless given.

        Returns:
            The seed.

        Raises:
            WorkerError: A rank raised. If ``healthy`` still, all ranks wait for another try.
        """
        chosen = secrets.randbelow(2**31) if seed is None else seed
        if seed is None:
            log.info("seed_drawn", seed=chosen)
        self.call(StartSession(params, chosen))
        return chosen

    def generate(self, index: int, controls: Any = None) -> npt.NDArray[Any]:
        """Return the chunk that the ranks make together; waits as long as they compute.

        Returns:
            The frames, a read-only view of shared memory that nobody writes to while it is held.
        """
        limit_s = self._limits.turn_s if self._has_turned else self._limits.first_turn_s
        result = self.call(GenerateChunk(index, controls), limit_s, f"chunk {index}")
        self._has_turned = True
        return whole_chunk(result, *self._frame)

    def end_session(self) -> None:
        """End the session on every rank."""
        self.call(EndSession())

    def abandon(self, error: ReactorError) -> None:
        """End all ranks because of *error*, which every later call raises."""
        self._life.abandon(error)

    def stacks(self) -> Mapping[int, str]:
        """Return what each rank is doing right now: its Python stacks, or why there are none."""
        return dict(stacks_of(self._life.processes))

    def shutdown(self) -> None:
        """End a call in flight and every rank, and leave nothing behind. Idempotent."""
        self._life.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.shutdown()


def whole_chunk(result: CallResult, shape: Shape, dtype: str) -> npt.NDArray[Any]:
    """Return the chunk of a ``generate_chunk``, a view; an empty one of *shape* where none is."""
    written = result.parts.get(ONLY_TRACK, ())
    extents = [part.extent[0] for ranks in written for _, part in ranks if part.extent]
    rows = max([payload or 0 for payload in result.payloads] + extents)
    if not rows or result.lease is None:
        return np.empty((0, *(shape[1:] or (0, 0, 3))), dtype)
    return result.lease.view(widest(written[0]), rows)
