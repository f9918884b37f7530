"""Folders as model repositories are: manifest forms, imports, configuration, their commands."""

import contextlib
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from tests.compat.conftest import Play, places
from tests.e2e.serving import free_port
from tests.waiting import wait_for

from reactor_runtime import ReactorModel
from reactor_runtime.manifest import import_model_class, load_config

REPOSITORIES = Path(__file__).parent / "repositories"

# Folder, reference, its configuration, and the grey it shows.
MODELS = [
    ("schema_v1", "fastmodel:FastModel", "configs/small.yaml", 66),
    ("named_reactor", "reactor.world_app:WorldApp", "config.yaml", 77),
    ("config_as_dict", "older:Older", "settings.yaml", 88),
    ("annotated_dict", "annotated:Annotated", "settings.yaml", 99),
    ("only_import", "bare:Bare", None, 111),
]


@pytest.mark.parametrize(("name", "ref", "config", "grey"), MODELS)
def test_a_manifest_names_class_and_configuration(
    name: str, ref: str, config: str | None, grey: int
) -> None:
    manifest = load_config(REPOSITORIES / name / "reactor.yaml")
    assert manifest.model_ref == ref
    assert manifest.config_path == (config and (REPOSITORIES / name / config).resolve())


@pytest.mark.usefixtures("author_path")
@pytest.mark.parametrize(("name", "ref", "config", "grey"), MODELS)
def test_it_runs_as_it_is(play: Play, name: str, ref: str, config: str | None, grey: int) -> None:
    folder = REPOSITORIES / name
    sys.path.insert(0, str(folder))
    model = import_model_class(load_config(folder).model_ref)
    assert issubclass(model, ReactorModel)
    client = play(model, folder, folder / config if config else None).connect()
    client.see(grey)


@places("peer_2")
@pytest.mark.usefixtures("author_path")
def test_a_package_with_relative_imports_runs_on_a_server_s_ranks(play: Play) -> None:
    folder = REPOSITORIES / "named_reactor"
    sys.path.insert(0, str(folder))
    model = import_model_class(load_config(folder).model_ref)
    client = play(model, folder).connect()
    client.see(77)
    answer = client.send("ask")
    assert answer is not None
    assert (answer.name, answer.body) == ("level", {"level": 77})


@pytest.mark.parametrize("name", [name for name, *_ in MODELS])
def test_its_schema_is_rendered_from_its_folder(name: str) -> None:
    """In a process of its own: the folders' modules are nobody else's."""
    rendered = f"render({str(REPOSITORIES / name)!r}, version='v3.0.0')"
    code = f"import json; from reactor_runtime.schema import render; print(json.dumps({rendered}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    schema: dict[str, Any] = json.loads(done.stdout)
    assert schema["openapi"].startswith("3.1")
    assert schema["info"]["version"] == "v3.0.0"


def test_the_schema_s_command_line(tmp_path: Path) -> None:
    out = tmp_path / "schema.json"
    command = [sys.executable, "-m", "reactor_runtime.schema", "--path", "."]
    subprocess.run(
        [*command, "--version", "v9.9.9", "--out", str(out)],
        cwd=REPOSITORIES / "named_reactor",
        check=True,
        timeout=60,
        capture_output=True,
    )
    assert json.loads(out.read_text())["info"]["version"] == "v9.9.9"


def test_python_m_serve_in_the_folder() -> None:
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "reactor_runtime.serve"],
        cwd=REPOSITORIES / "schema_v1",
        env={**os.environ, "REACTOR_PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:

        def is_available() -> bool:
            assert process.poll() is None
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer,
            ):
                return b"available" in answer.read()
            return False

        wait_for(is_available, 60)
    finally:
        process.terminate()
        assert process.wait(30) == 0
