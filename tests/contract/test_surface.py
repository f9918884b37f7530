"""The author's surface: every name, where it is found, and what importing it may load."""

import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.contract.loading import HEAVY, ROOT, loaded_by

import reactor_runtime

SURFACE = (
    "ApplicationError",
    "Audio",
    "BufferClosed",
    "ClientInfo",
    "Command",
    "CommandError",
    "FieldInfo",
    "Idle",
    "Input",
    "InputBuffer",
    "InputField",
    "InputFrame",
    "InputState",
    "MediaInput",
    "MessageField",
    "Metadata",
    "ModelMessage",
    "Output",
    "OutputStream",
    "ReactorApp",
    "ReactorModel",
    "ReactorPipeline",
    "ReadMode",
    "Shard",
    "StepCompleted",
    "StepOutcome",
    "Track",
    "TrackPayload",
    "UploadedFile",
    "Video",
    "__version__",
    "connected",
    "disconnected",
    "event",
    "file_uploaded",
    "get_logger",
    "get_weights_path",
    "session_ended",
    "session_started",
)


def test_the_surface_is_this_list() -> None:
    assert sorted(reactor_runtime.__all__) == sorted(SURFACE)


@pytest.mark.parametrize("name", SURFACE)
def test_each_name_is_there(name: str) -> None:
    assert getattr(reactor_runtime, name) is not None
    assert name in dir(reactor_runtime)


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        reactor_runtime.nothing  # noqa: B018
    with pytest.raises(ImportError):
        from reactor_runtime import nothing  # noqa: F401


def test_names_that_are_one_thing() -> None:
    assert reactor_runtime.ReactorApp is reactor_runtime.ReactorModel
    assert reactor_runtime.Input is reactor_runtime.MediaInput
    assert issubclass(reactor_runtime.ReactorPipeline, reactor_runtime.ReactorModel)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("reactor_runtime.log", "get_logger"),
        ("reactor_runtime.paths", "get_weights_path"),
        ("reactor_runtime.manifest", "load_config"),
        ("reactor_runtime.manifest", "import_model_class"),
        ("reactor_runtime.schema", "render"),
        ("reactor_runtime.interface.model", "ModelContract"),
        ("reactor_runtime.interface.model.contract", "ModelContract"),
        ("reactor_runtime.interface.pipeline.idle", "_IdleType"),
    ],
)
def test_published_import_paths_exist(path: str, name: str) -> None:
    assert hasattr(importlib.import_module(path), name)


@pytest.mark.parametrize("name", [n for n in SURFACE if n != "__version__"])
def test_the_older_package_forwards_every_name(name: str) -> None:
    interface = importlib.import_module("reactor_runtime.interface")
    assert getattr(interface, name) is getattr(reactor_runtime, name)


def test_importing_the_package_loads_nothing_at_all() -> None:
    heavy = (*HEAVY, "numpy", "pydantic", "structlog", "asyncio", "yaml")
    assert loaded_by("import reactor_runtime", *heavy) == set()


@pytest.mark.parametrize(
    "statement",
    [
        "from reactor_runtime import *",
        "from reactor_runtime.interface import *",
        "import reactor_runtime.log; reactor_runtime.log.get_logger('x')",
        "import reactor_runtime.schema",
        "import reactor_runtime.manifest",
        "from reactor_runtime.interface.model.contract import ModelContract",
    ],
)
def test_importing_the_surface_loads_no_stack(statement: str) -> None:
    assert loaded_by(statement, *HEAVY, "structlog") == set()


def test_declaring_a_model_loads_no_validation() -> None:
    statement = "sys.path.insert(0, 'tests/models'); from catalogue import Catalogue"
    assert loaded_by(statement, *HEAVY, "pydantic", "pydantic_core", "structlog") == set()


def test_declaring_and_reading_a_model_loads_no_stack() -> None:
    statement = (
        "sys.path.insert(0, 'tests/models'); from catalogue import Catalogue; "
        "from reactor_runtime.interface.model import ModelContract; "
        "ModelContract.of(Catalogue).render_schema().to_openapi()"
    )
    assert loaded_by(statement, *HEAVY, "structlog") == set()


def test_the_wheel_installs_one_top_level_package(tmp_path: Path) -> None:
    builder = pytest.importorskip("hatchling.build")
    code = f"import {builder.__name__} as b; print(b.build_wheel({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"reactor_runtime"}
    assert "reactor_runtime/py.typed" in names
