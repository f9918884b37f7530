"""The author's test kit: a model with its clients, and nothing else, in an ordinary test function.

``pytest`` finds the fixtures ``serve_model`` and ``start_workers`` by itself. Names load when they
are first used.
"""

from typing import TYPE_CHECKING

from reactor_runtime.lazy_names import lazy_names

if TYPE_CHECKING:
    from reactor_runtime.errors import ClientGoneError, ModelFailedError, WaitTimeoutError
    from reactor_runtime.testing.fake_client import FakeClient, PendingReply
    from reactor_runtime.testing.fake_clock import FakeClock
    from reactor_runtime.testing.fixtures import ServeModel, StartWorkers
    from reactor_runtime.testing.model_harness import ModelHarness, serve_model
    from reactor_runtime.testing.received import Failure, Frame, Message

__all__ = [
    "ClientGoneError",
    "Failure",
    "FakeClient",
    "FakeClock",
    "Frame",
    "Message",
    "ModelFailedError",
    "ModelHarness",
    "PendingReply",
    "ServeModel",
    "StartWorkers",
    "WaitTimeoutError",
    "serve_model",
]

_HOMES = {
    "ClientGoneError": "reactor_runtime.errors",
    "Failure": "reactor_runtime.testing.received",
    "FakeClient": "reactor_runtime.testing.fake_client",
    "FakeClock": "reactor_runtime.testing.fake_clock",
    "Frame": "reactor_runtime.testing.received",
    "Message": "reactor_runtime.testing.received",
    "ModelFailedError": "reactor_runtime.errors",
    "ModelHarness": "reactor_runtime.testing.model_harness",
    "PendingReply": "reactor_runtime.testing.fake_client",
    "ServeModel": "reactor_runtime.testing.fixtures",
    "StartWorkers": "reactor_runtime.testing.fixtures",
    "WaitTimeoutError": "reactor_runtime.errors",
    "serve_model": "reactor_runtime.testing.model_harness",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
