"""DistributedRunner: load, generate and reset on every rank; a facade over ``WorkerGroup``."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from reactor_runtime.distributed.verbs import OnError, Verb
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.errors import RankDesync, WorkerError

if TYPE_CHECKING:
    from reactor_runtime.distributed.rank import Rank


@dataclass(frozen=True, slots=True)
class _Load(Verb):
    phase: ClassVar[str] = "load"
    on_error: ClassVar[OnError] = OnError.SETTLE
    kwargs: Mapping[str, Any]

    def run(self, worker: Any, rank: "Rank") -> None:
        if hasattr(worker, "load"):
            worker.load(**self.kwargs)


@dataclass(frozen=True, slots=True)
class _Generate(Verb):
    phase: ClassVar[str] = "generate"
    on_error: ClassVar[OnError] = OnError.SETTLE
    input: Any

    def run(self, worker: Any, rank: "Rank") -> object:
        result = worker.generate(self.input)
        return result if rank.world.is_leader else None


@dataclass(frozen=True, slots=True)
class _Reset(Verb):
    phase: ClassVar[str] = "reset"
    on_error: ClassVar[OnError] = OnError.SETTLE

    def run(self, worker: Any, rank: "Rank") -> None:
        if hasattr(worker, "reset"):
            worker.reset()


class DistributedRunner:
    """Runs the same class on several ranks; every call goes to all, the leader's result counts.

    The class has ``load(**kwargs)``, ``generate(input)`` and ``reset()``. ``rank``, ``world_size``
    and ``device`` are set after ``__init__`` and before ``load``.

    Args:
        worker_class: The class, at the top level of a module.
        world_size: Number of ranks.
        load_kwargs: Arguments of ``load``.
        start_timeout: Seconds from the start to the end of ``load``; 0 for no bound.
        call_timeout: Seconds a call may take; 0 for no bound.
        init_process_group: Whether ranks join a torch process group before ``load``.
        device: ``cpu`` or ``cuda``; unless given, what there is.
        oversubscribe: Whether there may be more ranks than devices.

    Raises:
        WorkerGroupRefusedError: It cannot be started like that: class, devices, or place.
    """

    def __init__(  # noqa: PLR0913 - a published signature
        self,
        worker_class: type[Any],
        world_size: int = 1,
        load_kwargs: Mapping[str, Any] | None = None,
        *,
        start_timeout: float = 1800.0,
        call_timeout: float = 600.0,
        init_process_group: bool = True,
        device: str | None = None,
        oversubscribe: bool = False,
    ) -> None:
        self._load = _Load(dict(load_kwargs or {}))
        self._group = WorkerGroup(
            worker_class,
            world_size,
            setup_kwargs=self._load.kwargs,
            init_process_group=init_process_group,
            device=device,
            oversubscribe=oversubscribe,
            turn_timeout=call_timeout,
            load_timeout=start_timeout,
        )

    @property
    def world_size(self) -> int:
        """Number of ranks."""
        return self._group.world_size

    @property
    def healthy(self) -> bool:
        """Whether all ranks live and a call is possible."""
        return self._group.healthy

    def start(self) -> None:
        """Start the ranks and ``load`` on all of them.

        Raises:
            Exception: What every rank's ``load`` raised, in its own type.
            WorkerError: Ranks raised before ``load``.
            RankDesync: Some ranks' ``load`` raised and others' did not.
            WorkerCrashed: A rank died, or was silent past the start timeout.
        """
        try:
            self._group.start([self._load])
        except WorkerError as error:
            raise self._as_raised(error) from error.__cause__

    def generate(self, input: Any = None) -> Any:
        """Call ``generate(input)`` on every rank and return the leader's result.

        Arrays in the result are C-contiguous and the caller's own.

        Raises:
            Exception: What every rank raised, in its own type; the runner can go on.
            RankDesync: Some ranks raised and others did not; the runner is closed.
            WorkerCrashed: A rank died, or was silent past the call timeout.
        """
        return self._call(_Generate(input))

    def reset(self) -> None:
        """Call ``reset()`` on every rank; raises as ``generate``."""
        self._call(_Reset())

    def shutdown(self) -> None:
        """End all ranks and leave nothing behind. Idempotent."""
        self._group.shutdown()

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

    def _call(self, verb: Verb) -> Any:
        try:
            return self._group.call(verb).payloads[0]
        except WorkerError as error:
            raised = self._as_raised(error)
            if isinstance(raised, RankDesync):
                self._group.abandon(raised)
            raise raised from error.__cause__

    def _as_raised(self, error: WorkerError) -> BaseException:
        """Return the author's own exception if all ranks raised it, else that they differ."""
        if len(error.ranks) < self.world_size:
            if error.phase not in ("load", "generate", "reset"):
                return error
            reason = f"rank {error.rank} raised {error.kind}: {error.message}"
            return RankDesync(error.phase, reason, error.ranks)
        original = error.__cause__ or error
        original.add_note(f"raised on all {self.world_size} ranks; {error.__notes__[0]}")
        return original
