"""How a server starts, and how a start that cannot work ends: one line, a status, soon."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.serving import ROOT, WORLDS, free_port, serving
from tests.process.cli import environment, reactor
from tests.waiting import wait_for

MODELS = "tests.models"
LOAD_BREAKS = f"{MODELS}.breaks_in_load:BreaksInLoad"


def run_to_its_end(*arguments: str, cwd: Path = ROOT, **env: str) -> tuple[int, list[str], str]:
    """Run ``reactor serve`` until it ends by itself: status, lines on stderr, stdout."""
    ran = reactor("serve", *arguments, cwd=cwd, REACTOR_LOG_LEVEL="critical", **env)
    return ran.status, ran.err.splitlines(), ran.out


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_taken_port_is_one_line_and_status_3(taken_port: int) -> None:
    status, lines, _ = run_to_its_end(LOAD_BREAKS, "--port", str(taken_port))
    assert status == 3
    (line,) = lines
    assert str(taken_port) in line
    assert "in use" in line


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("no/such/folder",), "no/such/folder"),
        ((f"{MODELS}.breaks_in_load:Missing",), "Missing"),
        ((f"{MODELS}.no_such_module:Model",), "no_such_module"),
        ((LOAD_BREAKS, "--world-size", "2", "--device", "cuda"), "0 CUDA devices"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line_and_status_2(
    arguments: tuple[str, ...], wanted: str
) -> None:
    status, lines, _ = run_to_its_end(*arguments, "--port", str(free_port()))
    assert status == 2
    (line,) = lines
    assert wanted in line


def test_a_load_that_raises_is_one_line_and_status_1() -> None:
    status, lines, _ = run_to_its_end(LOAD_BREAKS, "--port", str(free_port()), BREAK="raise")
    assert status == 1
    (line,) = lines
    assert "BreaksInLoad failed in load: ValueError: the weights are bad" in line


def test_the_environment_beats_what_the_manifest_sets_of_it(tmp_path: Path) -> None:
    (tmp_path / "reactor.yaml").write_text(
        "runtime: {import: 'told:Told', weights_path: w, env: {SET_ONE: a, SET_TWO: b}}\n"
    )
    (tmp_path / "told.py").write_text(
        "import os\n"
        "from reactor_runtime import ReactorModel, get_weights_path\n"
        "class Told(ReactorModel):\n"
        "    def load(self, config_path):\n"
        "        set_ = os.environ['SET_ONE'], os.environ['SET_TWO'], get_weights_path().name\n"
        "        raise ValueError(' '.join(set_))\n"
        "    def generate(self, input): ...\n"
    )
    arguments = (str(tmp_path), "--port", "0")
    _, lines, _ = run_to_its_end(*arguments, SET_TWO="mine")
    assert "ValueError: a mine w" in lines[-1]
    _, lines, _ = run_to_its_end(*arguments, REACTOR_WEIGHTS_PATH="/other")
    assert "ValueError: a b other" in lines[-1]


def test_the_model_lets_the_event_loop_in_soon(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text(
        "import sys\n"
        "from reactor_runtime import ReactorModel\n"
        "class Told(ReactorModel):\n"
        "    def load(self, config_path):\n"
        "        raise ValueError(sys.getswitchinterval())\n"
        "    def generate(self, input): ...\n"
    )
    _, lines, _ = run_to_its_end("told:Told", "--port", "0", cwd=tmp_path)
    assert "ValueError: 0.0005" in lines[-1]


def test_open_shows_the_page_in_the_browser(tmp_path: Path) -> None:
    browser, shown = tmp_path / "browser", tmp_path / "shown"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {shown}.part && mv {shown}.part {shown}\n')
    browser.chmod(0o700)
    command = f"{browser} %s"
    with serving(LOAD_BREAKS, "--open", REACTOR_PROT="1", BROWSER=command) as served:
        wait_for(shown.exists)
        assert shown.read_text() == f"{served.url}/"
        assert "unknown_variable" in served.log()  # beside it, a misspelt one is pointed at
        assert "REACTOR_PORT" in served.log()


def test_a_browser_that_is_not_there_is_told(tmp_path: Path) -> None:
    nothing = tmp_path / "empty"
    nothing.mkdir()
    env = {"BROWSER": "", "PATH": str(nothing), "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    with serving(LOAD_BREAKS, "--open", ready=True, cwd=ROOT, **env) as served:
        wait_for(lambda: "No browser was found to open" in served.log(), otherwise=served.log)


def test_at_debug_level_an_import_that_fails_has_its_traceback(tmp_path: Path) -> None:
    (tmp_path / "told.py").write_text("import deeper\n")
    (tmp_path / "deeper.py").write_text("def dig():\n    raise ValueError('rock')\n\ndig()\n")
    flags = ("--port", "0", "--log-level", "debug")
    status, lines, _ = run_to_its_end("told:Told", *flags, cwd=tmp_path)
    assert status == 2
    text = "\n".join(lines)
    assert "\nreactor: cannot import told:Told: deeper.py, line 2: ValueError: rock" in text
    assert "Traceback" in text
    assert "in dig" in text


@pytest.mark.parametrize(("how", "wanted"), [("exit", 3), ("kill", -signal.SIGKILL)])
def test_a_load_that_ends_the_process_ends_it(how: str, wanted: int) -> None:
    port = free_port()
    begun = time.monotonic()
    status, _, out = run_to_its_end(LOAD_BREAKS, "--port", str(port), BREAK=how)
    assert status == wanted
    assert "Loading" in out
    assert time.monotonic() - begun < 10
    with socket.socket() as again:  # the port is free
        again.bind(("127.0.0.1", port))


def test_a_load_that_takes_too_long_is_given_up() -> None:
    status, lines, _ = run_to_its_end(
        LOAD_BREAKS, "--port", str(free_port()), BREAK="sleep", REACTOR_LOAD_TIMEOUT="0.3"
    )
    assert status == 1
    assert "did not load within 0.3 s" in lines[-1]


def test_the_start_is_told_in_three_lines() -> None:
    with serving(LOAD_BREAKS, "--log-level", "error") as served:
        wait_for(lambda: len(served.log().splitlines()) >= 3)
        lines = served.log().splitlines()
        assert served.stop() == 0
    port = served.url.rpartition(":")[2]
    assert lines[:2] == [f"Open http://127.0.0.1:{port}/", f"Loading {LOAD_BREAKS} …"]
    assert lines[2].startswith("Ready after ")


def test_health_answers_while_the_module_is_imported_and_the_model_loads() -> None:
    for target, env in (
        (f"{MODELS}.slow_import:SlowImport", {"IMPORT_S": "3"}),
        (LOAD_BREAKS, {"BREAK": "sleep"}),
    ):
        with serving(target, ready=False, cwd=ROOT, **env) as served:
            _wait_for_port(served.url)
            waits = []
            for _ in range(10):
                begun = time.monotonic()
                status, body = served.get("/health")
                waits.append(time.monotonic() - begun)
                assert (status, json.loads(body)["state"]) == (200, "loading")
            assert served.get("/health/ready")[0] == 503
            assert sorted(waits)[5] < 0.1


def _wait_for_port(url: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            urllib.request.urlopen(f"{url}/health", timeout=5).close()
        except OSError:
            assert time.monotonic() < deadline
            threading.Event().wait(0.01)  # polling another process
        else:
            return


def test_without_a_token_other_networks_are_warned_about() -> None:
    with serving(LOAD_BREAKS, "--host", "0.0.0.0") as served:
        assert "open_to_the_network" in served.log()
        assert "commands" in served.log()
    with serving(LOAD_BREAKS, "--host", "0.0.0.0", REACTOR_TOKEN="s3cret") as served:
        assert "open_to_the_network" not in served.log()
        assert "s3cret" not in served.log()
    with serving(LOAD_BREAKS) as served:
        assert "open_to_the_network" not in served.log()


def test_the_module_serves_the_manifest_in_the_current_folder(tmp_path: Path) -> None:
    source = (ROOT / "tests/models/breaks_in_load.py").read_text()
    (tmp_path / "flat.py").write_text(source)
    (tmp_path / "reactor.yaml").write_text("runtime:\n  import: flat:BreaksInLoad\n")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "reactor_runtime.serve"],
        cwd=tmp_path,
        env=environment(HOST="127.0.0.1", PORT=str(port), STUN_SERVERS=""),
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert lines[0] == f"Open http://127.0.0.1:{port}/\n"
    assert lines[2].startswith("Ready")


def _write_model(folder: Path, package: str = "") -> None:
    """Write a model that imports its sibling, and a manifest above the package if there is one."""
    home = folder / package
    home.mkdir(parents=True, exist_ok=True)
    sibling = "from .sibling import SIZE" if package else "from sibling import SIZE"
    source = (ROOT / "tests/models/breaks_in_load.py").read_text()
    (home / "sibling.py").write_text("SIZE = 16\n")
    (home / "model.py").write_text(source.replace("import numpy", f"{sibling}\nimport numpy"))
    if package:
        (home / "__init__.py").write_text("")
    prefix = f"{package}." if package else ""
    (folder / "reactor.yaml").write_text(f"runtime:\n  import: {prefix}model:BreaksInLoad\n")


@pytest.mark.parametrize("ranks", WORLDS)
@pytest.mark.parametrize("package", ["", "painter"])
@pytest.mark.parametrize("from_folder", [True, False])
def test_sibling_modules_are_found_from_anywhere(
    tmp_path: Path, package: str, from_folder: bool, ranks: int
) -> None:
    """The same class, whatever the current folder and the layout."""
    _write_model(tmp_path, package)
    target, cwd = (".", tmp_path) if from_folder else (str(tmp_path), ROOT)
    with serving(target, *WORLDS[ranks], cwd=cwd) as served:
        assert '"BreaksInLoad"' in served.get("/session")[1]


def test_a_module_that_does_not_import_names_the_authors_line(tmp_path: Path) -> None:
    _write_model(tmp_path)
    (tmp_path / "sibling.py").write_text("import no_such_module\n")
    status, lines, _ = run_to_its_end(str(tmp_path), "--port", str(free_port()))
    assert status == 2
    (line,) = lines
    assert "sibling.py, line 1" in line
    assert "no_such_module" in line
