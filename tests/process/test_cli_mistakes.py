"""A person's mistake is one clear line on stderr and status 2, never a traceback of ours."""

from pathlib import Path

import pytest
from tests.process.cli import Ran, reactor, write_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "app")
    return tmp_path


def one_line(ran: Ran) -> str:
    assert ran.status == 2, ran.err
    assert "Traceback" not in ran.err
    (line,) = ran.err.splitlines()
    assert line.startswith("reactor: ")
    return line


MISTAKES: dict[str, tuple[list[str], list[str]]] = {
    "unknown command": (["sevre"], ["sevre"]),
    "unknown flag": (["serve", "--prot", "1"], ["--prot", "reactor serve --help"]),
    "flag without its value": (["serve", "app", "--port"], ["--port"]),
    "wrong value of a flag": (["serve", "app", "--port", "http"], ["--port", "'http'", "65535"]),
    "too many arguments": (["serve", "app", "two"], ["two"]),
    "nothing there": (["serve", "nowhere"], ["nowhere", "module:Class"]),
    "folder without a manifest": (["check", "."], ["reactor.yaml", "reactor init"]),
    "missing module": (["check", "nope:M"], ["nope", "no module"]),
    "missing class": (["check", "numpy:M"], ["no class 'M'"]),
    "no model": (["schema", "json:JSONDecoder"], ["no ReactorModel"]),
    "wrong form": (["schema", "a:b:c"], ["module:Class"]),
    "reload of nothing": (["serve", "nowhere", "--reload"], ["nowhere"]),
    "doctor of nothing": (["doctor", "nowhere"], ["nowhere"]),
    "schema into nothing": (["schema", "app", "--out", "no/x.json"], ["--out", "no/x.json"]),
    "schema onto a folder": (["schema", "app", "--out", "app"], ["--out", "app"]),
    "values that clash": (
        ["check", "app", "--world-size", "2", "--isolation", "in_process"],
        ["isolation", "flag --isolation"],
    ),
}


@pytest.mark.parametrize(("arguments", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_one_line(folder: Path, arguments: list[str], words: list[str]) -> None:
    line = one_line(reactor(*arguments, cwd=folder))
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("", ["empty file"]),
        ("runtime:\n  import: model:M\n  worldsize: 2\n", ["line 3", "runtime.world_size?"]),
        ("runtime:\n  import: model:M\n  port: '80'\n", ["line 3", "without quotes"]),
        ("runtime:\n\timport: model:M\n", ["line 2", "a tab"]),
        ("runtime:\n  import: model:M\n  config: gone.yaml\n", ["line 3", "gone.yaml"]),
        ("runtime:\n  import: other:M\n", ["other", "there is model"]),
    ],
)
def test_a_mistake_in_a_manifest_is_one_line(folder: Path, manifest: str, words: list[str]) -> None:
    (folder / "app" / "reactor.yaml").write_text(manifest)
    for command in ("check", "serve", "schema"):
        arguments = [command, "app"] + (["--port", "0"] if command == "serve" else [])
        if "other:M" in manifest and command == "serve":
            continue  # the server says so when it imports the class; its own tests
        line = one_line(reactor(*arguments, cwd=folder))
        for word in words:
            assert word in line


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("import json\nx = json.loads('{')\n", ["model.py, line 2", "JSONDecodeError"]),
        ("def f(:\n", ["model.py, line 1", "SyntaxError"]),
        ("import not_there_at_all\n", ["model.py, line 1", "not_there_at_all", "install"]),
        ("raise SystemExit(4)\n", ["exit status 4", "__main__"]),
        (
            "from reactor_runtime import InputField, InputState\n"
            "class S(InputState):\n    hue: float = InputField(default=2, le=1)\n",
            ["model.py, line", "TypeError", "hue"],
        ),
        (
            "from reactor_runtime import ReactorModel, connected\n"
            "class M(ReactorModel):\n"
            "    @connected\n    def a(self): ...\n"
            "    @connected\n    def b(self): ...\n",
            ["model", "TypeError"],
        ),
    ],
    ids=["raises", "syntax", "dependency", "exits", "declaration", "two hooks"],
)
def test_a_mistake_in_a_model_names_the_authors_line(
    folder: Path, model: str, words: list[str]
) -> None:
    (folder / "app" / "model.py").write_text(model)
    line = one_line(reactor("check", "app", cwd=folder))
    for word in words:
        assert word in line


def test_a_wrong_variable_is_named() -> None:
    ran = reactor("check", "m:M", REACTOR_PORT="x", REACTOR_TOKEN="t")
    assert "REACTOR_PORT: found 'x'" in one_line(ran)
