"""The escape hatch and the runner: which names, where, and what importing them loads."""

import importlib

import pytest
from tests.contract.loading import HEAVY, loaded_by
from tests.contract.test_surface import SURFACE

EXPERIMENTAL = (
    "DistributedWorker",
    "RankDesync",
    "SharedFrameBuffer",
    "WorkerCrashed",
    "WorkerError",
    "WorkerGroup",
    "WorkerTimeout",
)
RUNNER = (
    "DistributedRunner",
    "DistributedWorker",
    "RankDesync",
    "WorkerCrashed",
    "WorkerError",
    "WorkerTimeout",
)


@pytest.mark.parametrize(
    ("path", "names"),
    [("reactor_runtime.experimental", EXPERIMENTAL), ("reactor_runtime.distributed", RUNNER)],
)
def test_the_names_are_these(path: str, names: tuple[str, ...]) -> None:
    module = importlib.import_module(path)
    assert sorted(module.__all__) == sorted(names)
    for name in names:
        assert getattr(module, name) is not None
    assert set(names) <= set(dir(module))
    with pytest.raises(AttributeError):
        module.nothing  # noqa: B018


def test_the_engine_is_not_in_the_authors_surface() -> None:
    assert set(EXPERIMENTAL) & set(SURFACE) == set()
    assert "xperimental" in (importlib.import_module("reactor_runtime.experimental").__doc__ or "")


@pytest.mark.parametrize(
    "statement",
    [
        "import reactor_runtime.distributed",
        "from reactor_runtime.distributed import DistributedRunner",
        "from reactor_runtime.experimental import WorkerGroup",
    ],
)
def test_importing_the_engine_loads_numpy_at_most(statement: str) -> None:
    heavy = (*HEAVY, "pydantic", "structlog", "asyncio", "yaml")
    assert loaded_by(statement, *heavy) == set()


def test_the_package_alone_loads_nothing_of_it() -> None:
    assert loaded_by("import reactor_runtime.distributed", "numpy") == set()


def test_a_rank_loads_little_before_the_authors_code() -> None:
    statement = "import reactor_runtime.distributed.rank_program"
    heavy = (*HEAVY, "pydantic", "structlog", "asyncio", "yaml", "subprocess", "secrets")
    assert loaded_by(statement, *heavy) == set()
