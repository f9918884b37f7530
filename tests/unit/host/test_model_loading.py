"""What ``load`` is given, whatever form its author gave it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reactor_runtime.errors import ModelLoadError
from reactor_runtime.host.author_loop import AuthorLoop
from reactor_runtime.host.model_loading import load_model
from reactor_runtime.model.outlet import SilentOutlet
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.world import World

FORMS: dict[str, Any] = {}


def form(function: Any) -> Any:
    FORMS[function.__name__] = function
    return function


@form
def path(self: Any, config_path: Path | None) -> None:
    self.given = config_path


@form
def path_untyped(self: Any, config_path: Any = None) -> None:
    self.given = config_path


@form
def path_called_config(self: Any, config: Path | None = None) -> None:
    self.given = config


@form
def path_called_config_as_text(self: Any, config: "Path | None") -> None:
    self.given = config


@form
async def path_awaited(self: Any, config_path: Path | None) -> None:
    await asyncio.sleep(0)
    self.given = config_path


@form
def contents(self: Any, config) -> None:  # type: ignore[no-untyped-def]
    self.given = config


@form
def contents_by_type(self: Any, options: dict[str, Any]) -> None:
    self.given = options


@form
def contents_or_none(self: Any, options: dict | None = None) -> None:  # type: ignore[type-arg]
    self.given = options


@form
def contents_optional(self: Any, options: "Mapping[str, Any] | None") -> None:
    self.given = options


@form
def nothing(self: Any) -> None:
    self.given = "nothing"


def loaded_with(form_name: str, config_path: Path | None) -> Any:
    model_class = type("Model", (ReactorModel,), {"load": FORMS[form_name]})
    with asyncio.Runner() as runner:
        model: Any = load_model(
            model_class,
            AuthorLoop(runner.get_loop()),
            outlet=SilentOutlet(),
            world=World(),
            config_path=config_path,
        )
    return model.given


@pytest.mark.parametrize("name", [n for n in FORMS if n.startswith("path")])
def test_load_gets_the_path_never_its_contents(name: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("steps: 4")
    assert loaded_with(name, config) == config
    assert loaded_with(name, None) is None


@pytest.mark.parametrize("name", [n for n in FORMS if n.startswith("contents")])
def test_the_older_form_gets_the_contents(name: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("steps: 4")
    assert loaded_with(name, config) == {"steps": 4}
    assert loaded_with(name, None) == {}
    config.write_text("")
    assert loaded_with(name, config) == {}


def test_a_load_without_parameters_is_called_without(tmp_path: Path) -> None:
    assert loaded_with("nothing", tmp_path / "config.yaml") == "nothing"


def test_contents_that_are_no_mapping_are_named(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("- 4")
    with pytest.raises(ModelLoadError, match=r"config\.yaml holds a list; wanted a mapping"):
        loaded_with("contents", config)
