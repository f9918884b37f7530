"""What docs/first-model.md says of its models is so."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.e2e.snippets import blocks, write_files
from tests.process.cli import environment, reactor

from reactor_runtime import ApplicationError, CommandError, ReactorModel, UploadedFile
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.testing import Message, ModelHarness, WaitTimeoutError

PAGE = "docs/first-model.md"
Serve = Callable[..., ModelHarness]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Give the modules of the page by name."""
    files = [name for name in write_files(PAGE, tmp_path) if name.endswith(".py")]
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module
    for name in files:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.mark.parametrize("world_size", [1, 2])
def test_the_generator(page: Any, serve_model: Serve, world_size: int) -> None:
    client = serve_model(page("tunnel").Tunnel, world_size=world_size).connect()
    client.send("set_speed", {"speed": 0})
    first, second = client.frames("main_video", count=2)
    assert first.data.shape == (180, 320, 3)
    assert (first.data == second.data).all()
    client.send("set_speed", {"speed": 5})
    assert (client.frames("main_video")[0].data != second.data).any()
    with pytest.raises(CommandError, match="at most 5"):
        client.send("set_speed", {"speed": 6})


@pytest.mark.parametrize("world_size", [1, 2])
def test_the_step_hooks(page: Any, serve_model: Serve, world_size: int) -> None:
    served = serve_model(page("outline").Outline, world_size=world_size)
    client = served.connect()
    with pytest.raises(WaitTimeoutError):
        client.frames("main_video", timeout=0.2)
    assert served.steps[-1].refused
    picture = np.zeros((48, 64, 3), np.uint8)
    picture[:, 32:] = 60
    client.push_frame("camera", picture)
    (frame,) = client.frames("main_video")
    assert (frame.data[:, 32] == 240).all()
    assert frame.data.sum() == 48 * 3 * 240
    client.push_frame("camera", picture[:, :16])
    assert client.message() == Message("skipped", {"reason": "the picture is too narrow"})
    client.push_frame("camera", picture)
    client.frames("main_video")


@pytest.mark.parametrize("world_size", [1, 2])
def test_the_loop(page: Any, serve_model: Serve, world_size: int) -> None:
    client = serve_model(page("counter").Counter, world_size=world_size).connect()
    client.send("set_step", {"step": 50})
    first, second = client.frames("main_video", count=2)
    assert second.time_s == pytest.approx(first.time_s + 0.1)
    told = client.message("round").body
    assert told["turn"] > 0
    assert told["time_s"] > 0


def wait_for_ever(self: Any) -> None:
    raise ApplicationError("a model of which only the state is looked at")


def test_every_field_is_a_command_of_its_type(page: Any, serve_model: Serve) -> None:
    module = page("every_field")
    state = {"__annotations__": {"state": module.EveryField}}
    model = type("Model", (ReactorModel,), {**state, "process_input": wait_for_ever})
    commands = ModelContract.of(model).commands
    public = [name for name in module.EveryField.__annotations__ if name[0] != "_"]
    assert sorted(commands) == sorted(f"set_{name}" for name in public)
    client = serve_model(model).connect()
    right = {
        "steps": 3.0, "is_looping": True, "sampler": "heun", "palette": "cold", "mood": "wild",
        "camera": {"focus": [0, 1]}, "weights": [1, 2.5], "tags": {"a": 1},
        "region": [0, 1, 2, 3], "reference": UploadedFile("a.bin", "a/b", b"1"),
    }  # fmt: skip
    for name, value in right.items():
        client.send(f"set_{name}", {name: value})
    wrong = {
        "steps": 3.5, "guidance": float("nan"), "is_looping": 1, "sampler": "none",
        "palette": "hot", "mood": "CALM", "camera": {"zoom": 1, "pan": 2}, "region": [1, 2],
        "prompt": 7, "weights": "1",
    }  # fmt: skip
    for name, value in wrong.items():
        with pytest.raises(CommandError) as refusal:
            client.send(f"set_{name}", {name: value})
        assert refusal.value.code == "invalid_command", name


@pytest.mark.parametrize("world_size", [1, 2])
def test_commands_messages_and_hooks(page: Any, serve_model: Serve, world_size: int) -> None:
    served = serve_model(page("diary").Diary, world_size=world_size)
    ada, bob = served.connect("ada"), served.connect("bob")
    assert ada.message() == bob.message() == Message("noted", {"text": "welcome", "lines": 0})
    answer = ada.send("note", {"text": "rain"})
    assert answer == Message("noted", {"text": "thank you, ada", "lines": 1})
    assert bob.message() == Message("noted", {"text": "rain", "lines": 1})
    with pytest.raises(CommandError, match="'rain'") as refusal:
        bob.send("note", {"text": "rain"})
    assert refusal.value.code == "noted_already"
    with pytest.raises(CommandError, match="at least 1"):
        bob.send("note", {"text": ""})
    ada.upload(UploadedFile("map.png", "image/png", b"1234"))
    assert ada.send("tear_out") is None
    bob.disconnect()
    served.until(lambda: len(served.steps) > 3)
    answer = ada.send("note", {"text": "sun"})
    assert answer is not None
    assert answer.body["lines"] == 2  # "bob left", and this


def test_what_the_glowing_model_loads(page: Any, serve_model: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "glow"
    (folder / "weights").mkdir()
    np.save(folder / "weights" / "ramp.npy", np.arange(48))
    ran = reactor("check", "glow", cwd=tmp_path)
    assert ran.status == 0, ran.err
    assert str(folder / "weights") in ran.out.replace("./", f"{folder}/")
    code = (
        "from reactor_runtime.settings import import_served_class, resolve_settings as resolve\n"
        "from reactor_runtime.testing import serve_model\n"
        "settings = resolve('glow').settings\n"
        "model = import_served_class(settings)\n"
        "with serve_model(model, config=settings.config_path) as served:\n"
        "    print(served.connect().frames('main_video')[0].data.shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, capture_output=True, text=True, env=environment(), timeout=60,
    )  # fmt: skip
    assert done.stdout == "(24, 48, 3)\n", done.stderr


def test_the_model_by_hand(page: Any, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "by_hand.py"], cwd=tmp_path, capture_output=True, text=True
    )
    (code,) = (block.text for block in blocks(PAGE) if block.file == "by_hand.py")
    assert done.stdout == code.rsplit("  # ", 1)[1]


def test_the_served_manifest(page: Any, tmp_path: Path) -> None:
    document = json.loads(reactor("schema", ".", cwd=tmp_path).out)
    assert list(document["paths"]) == ["/events/set_speed"]


@pytest.mark.parametrize("default", ["[]", "{}", "set()"])
def test_a_shared_default_is_an_error(default: str) -> None:
    code = f"class State(InputState):\n    items: list = {default}\n"
    with pytest.raises(TypeError, match="share"):
        exec("from reactor_runtime import InputState\n" + code, {"__name__": "somewhere"})
