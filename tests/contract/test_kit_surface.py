"""The test kit's surface: every name, and what it loads."""

import pytest
from tests.contract.loading import HEAVY, loaded_by

from reactor_runtime import testing
from reactor_runtime.testing.fixtures import ModelSettings
from reactor_runtime.testing.harness_settings import MODEL_SETTINGS

NAMES = (
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
)


def test_the_surface_is_this_list() -> None:
    assert sorted(testing.__all__) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_there(name: str) -> None:
    assert getattr(testing, name) is not None
    assert name in dir(testing)


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        testing.nothing  # noqa: B018


def test_importing_it_loads_nothing() -> None:
    heavy = (*HEAVY, "numpy", "pydantic", "structlog", "asyncio", "pytest")
    assert loaded_by("import reactor_runtime.testing", *heavy) == set()


def test_a_model_under_test_loads_no_network() -> None:
    statement = (
        "from reactor_runtime.testing import serve_model; "
        "from tests.models.takes_turns import TakesTurns; "
        "served = serve_model(TakesTurns).start(); "
        "served.connect().frames('main_video'); served.stop()"
    )
    network = ("torch", "aiortc", "aioice", "starlette", "uvicorn", "pytest")
    assert loaded_by(statement, *network) == set()


def test_every_setting_of_a_model_under_test_has_a_type() -> None:
    assert {*ModelSettings.__annotations__, "world_size"} == {*MODEL_SETTINGS}
