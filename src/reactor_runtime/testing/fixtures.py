"""What the fixtures give a test: the types to annotate them with."""

from pathlib import Path
from typing import Any, Literal, Protocol, TypedDict, Unpack

from reactor_runtime.experimental import WorkerGroup
from reactor_runtime.testing.model_harness import ModelHarness


class ModelSettings(TypedDict, total=False):
    """The settings of ``reactor serve`` that a model under test may have, as in the manifest."""

    isolation: Literal["in_process", "process"]
    workers: int
    device: str
    comm_backend: Literal["gloo", "nccl"]
    init_process_group: bool
    on_failure: Literal["keep", "exit", "restart"]
    check_lockstep: bool
    oversubscribe: bool
    turn_timeout: float
    first_turn_timeout: float
    load_timeout: float
    settle_timeout: float
    comm_timeout: float
    orphan_timeout: float
    connect_timeout: float
    stop_grace: float
    max_fps: float


class ServeModel(Protocol):
    """The fixture ``serve_model``: what it returns has started, and is stopped after the test."""

    def __call__(
        self,
        model_class: type[Any],
        *,
        world_size: int = 1,
        config: str | Path | None = None,
        seed: int = 0,
        timeout: float = 30.0,
        **settings: Unpack[ModelSettings],
    ) -> ModelHarness:
        """Start a model under test; the arguments are those of ``ModelHarness``."""


class StartWorkers(Protocol):
    """The fixture ``start_workers``: its group has started, and is shut down after the test."""

    def __call__(self, worker_class: type[Any], world_size: int = 2, **options: Any) -> WorkerGroup:
        """Start a group of workers; *options* are those of ``WorkerGroup``."""
