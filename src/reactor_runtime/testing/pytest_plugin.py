"""The fixtures ``serve_model`` and ``start_workers``; pytest loads this module by its entry point.

It imports nothing but pytest: what a fixture needs loads when a test asks for it.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reactor_runtime.testing import ServeModel, StartWorkers


@pytest.fixture
def serve_model() -> "Iterator[ServeModel]":
    """Start a model under test: ``serve_model(MyModel, world_size=2)``; stopped after the test.

    The arguments are those of ``reactor_runtime.testing.ModelHarness``, and so is the result.
    """
    from reactor_runtime.testing.model_harness import ModelHarness

    with ExitStack() as stack:

        def start(model_class: type[Any], **options: Any) -> ModelHarness:
            __tracebackhide__ = True
            return stack.enter_context(ModelHarness(model_class, **options))

        yield start


@pytest.fixture
def start_workers() -> "Iterator[StartWorkers]":
    """Start a hand-driven worker group; it is shut down after the test.

    ``start_workers(MyWorker, world_size=2, setup_kwargs=…)`` takes what ``WorkerGroup`` takes, with
    defaults that suit tests: two ranks on the CPU without a process group, bounds of 30 s.
    """
    from reactor_runtime.experimental import WorkerGroup

    with ExitStack() as stack:

        def start(worker_class: type[Any], world_size: int = 2, **options: Any) -> WorkerGroup:
            __tracebackhide__ = True
            defaults: dict[str, Any] = {
                "init_process_group": False,
                "device": "cpu",
                "turn_timeout": 30.0,
                "first_turn_timeout": 30.0,
                "load_timeout": 120.0,
            }
            group = WorkerGroup(worker_class, world_size, **(defaults | options))
            stack.callback(group.shutdown)
            group.start()
            return group

        yield start
