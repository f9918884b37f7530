"""``reactor check`` and ``reactor schema``: what would be served, without loading it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.process.cli import MODEL, command_line, environment, reactor, write_model

MANIFEST = """\
model: {name: grey}
runtime:
  import: model:M
  port: 7001
  turn_timeout: 5
build: {x: 1}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return write_model(tmp_path / "app", MANIFEST)


def rows(out: str) -> dict[str, str]:
    """Label to the rest of its line, blanks squeezed."""
    split = (line.split() for line in out.splitlines() if line.startswith("  "))
    return {words[0]: " ".join(words[1:]) for words in split if words}


def test_settings_and_their_origins_are_printed(app: Path) -> None:
    ran = reactor(
        "check", str(app), "--max-fps", "30", REACTOR_HOST="0.0.0.0", REACTOR_TOKEN="hid3"
    )
    assert (ran.status, ran.err) == (0, "")
    table = rows(ran.out)
    assert table["port"] == "7001 reactor.yaml line 4"
    assert table["turn_timeout"] == "5 s reactor.yaml line 5"
    assert table["max_fps"] == "30 flag --max-fps"
    assert table["host"] == "0.0.0.0 environment REACTOR_HOST"
    assert table["token"] == "set (not shown) environment REACTOR_TOKEN"
    assert table["world_size"] == "1 default"
    assert table["ignored"] == "build"
    assert "hid3" not in ran.out


def test_the_contract_is_printed_and_the_model_is_not_loaded(app: Path) -> None:
    ran = reactor("check", ".", cwd=app)
    assert ran.status == 0  # its load raises
    table = rows(ran.out)
    assert table["class"] == "M"
    assert table["commands"] == "set_hue(hue: number 0…1 = 0.5)"


TALKS = """\
from reactor_runtime import ReactorModel

class Talks(ReactorModel):
    def generate(self, input):
        return None

class Hasty(Talks):
    fps = "24"
"""


def test_a_class_without_tracks_is_said_to_send_messages_only(app: Path) -> None:
    (app / "talks.py").write_text(TALKS)
    ran = reactor("check", "talks:Talks", cwd=app)
    assert ran.status == 0
    assert rows(ran.out)["output"] == "tracks none; it can only send messages"


def test_a_pace_of_another_type_is_refused(app: Path) -> None:
    (app / "talks.py").write_text(TALKS)
    ran = reactor("check", "talks:Hasty", cwd=app)
    assert ran.status == 2
    assert "Hasty.fps is '24'; wanted a positive number of frames per second" in ran.err


@pytest.mark.parametrize("command", ["check", "serve"])
@pytest.mark.parametrize(
    ("devices", "words"),
    [(0, "found cuda:1, and torch sees no CUDA devices here"), (1, "wanted cuda:<n> below cuda:1")],
)
def test_a_device_that_torch_does_not_see_is_refused_in_process(
    app: Path, command: str, devices: int, words: str
) -> None:
    (app / "torch.py").write_text(
        f"class cuda:\n    device_count = staticmethod(lambda: {devices})\n"
    )
    (app / "talks.py").write_text(f"import torch\n{TALKS}")
    ran = reactor(command, "talks:Talks", "--device", "cuda:1", cwd=app, REACTOR_PORT="0")
    assert ran.status == 2
    assert words in ran.err


def test_keys_that_nothing_knows_and_absent_weights_are_pointed_at(app: Path) -> None:
    manifest = app / "reactor.yaml"
    manifest.write_text(manifest.read_text().replace("runtime:\n", "runtime:\n  fps: 30\n"))
    told = f"look {manifest}: nothing knows runtime.fps, so it changes nothing"
    ran = reactor("check", str(app))
    assert ran.status == 0
    assert told in " ".join(ran.out.split())
    assert "weights_path" not in ran.out
    (app / "model.py").write_text("raise SystemExit('not imported')")
    lines = reactor("serve", str(app), REACTOR_PORT="0").err.splitlines()
    (line,) = [each for each in lines if "check_the_manifest" in each]
    assert "nothing knows runtime.fps" in line

    manifest.write_text(MANIFEST.replace("runtime:\n", "runtime:\n  weights_path: nowhere\n"))
    missing = f"runtime.weights_path is {app / 'nowhere'}, which does not exist"
    assert missing in reactor("serve", str(app), REACTOR_PORT="0").err
    elsewhere = reactor("serve", str(app), REACTOR_PORT="0", REACTOR_WEIGHTS_PATH=str(app))
    assert "check_the_manifest" not in elsewhere.err


def test_the_weights_are_where_the_environment_says(app: Path) -> None:
    assert rows(reactor("check", str(app)).out)["weights"] == "./weights"
    ran = reactor("check", str(app), REACTOR_WEIGHTS_PATH="/srv/weights")
    assert rows(ran.out)["weights"] == "/srv/weights"


def test_what_is_recorded_is_printed_and_checked(app: Path) -> None:
    assert rows(reactor("check", str(app)).out)["recording"] == "off"
    assert rows(reactor("check", str(app), "--record").out)["recording"] == "on"
    manifest = app / "reactor.yaml"
    section = "recording: {enabled: yes, chunk_seconds: 4, video: {crf: 18}}\n"
    manifest.write_text(manifest.read_text() + section)
    shown = rows(reactor("check", str(app)).out)["recording"]
    assert shown == "on, chunk_seconds 4.0, video.crf 18"
    assert rows(reactor("check", str(app), "--no-record").out)["recording"] == "off"
    manifest.write_text(manifest.read_text().replace("chunk_seconds: 4", "video_track: elsewhere"))
    ran = reactor("check", str(app))
    assert ran.status == 2
    assert "recording.video_track: found elsewhere; wanted" in ran.err


def test_a_class_without_a_manifest_is_checked(app: Path) -> None:
    ran = reactor("check", "model:M", cwd=app)
    assert ran.status == 0
    assert rows(ran.out)["manifest"] == "none"


def test_schema_prints_the_document_and_nothing_else(app: Path) -> None:
    (app / "model.py").write_text("print('hello from the module')\n" + MODEL)
    ran = reactor("schema", str(app), "--version", "v1.2.3")
    document = json.loads(ran.out)
    assert document["info"]["title"] == "grey"
    assert document["info"]["version"] == "v1.2.3"
    assert "/events/set_hue" in document["paths"]


def test_schema_writes_a_file(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "schema.json"
    ran = reactor("schema", str(app), "--out", str(out))
    assert (ran.status, ran.out) == (0, "")
    assert json.loads(out.read_text())["openapi"] == "3.1.0"


def test_a_reader_that_goes_away_is_no_failure_worth_a_traceback(app: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        done = subprocess.run(
            command_line("schema", str(app)), stdout=closed, stderr=subprocess.PIPE,
            text=True, env=environment(), timeout=30,
        )  # fmt: skip
    assert "Traceback" not in done.stderr


def test_the_published_module_renders_the_same(app: Path, tmp_path: Path) -> None:
    out = tmp_path / "schema.json"
    arguments = ["--path", str(app), "--version", "v9", "--out", str(out)]
    subprocess.run([sys.executable, "-m", "reactor_runtime.schema", *arguments], check=True,
                   env=environment())  # fmt: skip
    assert json.loads(out.read_text()) == json.loads(
        reactor("schema", str(app), "--version", "v9").out
    )
    code = (
        "import json\nfrom reactor_runtime.schema import render\n"
        f"print(json.dumps(render({str(app)!r}, version='v9')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(out.read_text())


def test_the_published_module_tells_a_model_where_its_weights_are(tmp_path: Path) -> None:
    (tmp_path / "reactor.yaml").write_text(
        "runtime:\n  import: weighed:Weighed\n  weights_path: heavy\n"
    )
    (tmp_path / "weighed.py").write_text(
        "from reactor_runtime import InputState, ReactorPipeline, get_weights_path\n\n"
        "assert get_weights_path().name == 'heavy'\n\n"
        "class Weighed(ReactorPipeline):\n"
        "    state: InputState\n"
    )
    command = [sys.executable, "-m", "reactor_runtime.schema", "--path", str(tmp_path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["check", "schema"])
def test_no_media_stack_is_imported(app: Path, command: str) -> None:
    code = (
        "import sys\n"
        "from reactor_runtime.cli.main import run\n"
        f"assert run([{command!r}, {str(app)!r}]) == 0\n"
        "heavy = {'aiortc', 'av', 'fastapi', 'uvicorn', 'torch'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


BROKEN = MODEL.replace("def inference", "def inferense")


@pytest.mark.parametrize("command", ["check", "serve"])
def test_a_pipeline_without_its_body_is_told_before_a_viewer_comes(
    tmp_path: Path, command: str
) -> None:
    ran = reactor(command, str(write_model(tmp_path / "app", model=BROKEN)))
    assert ran.status == 2
    assert "M has no inference(); did you mean inferense()?" in ran.err
    assert "Traceback" not in ran.err


def test_what_is_probably_a_mistake_is_pointed_at(tmp_path: Path) -> None:
    doubtful = MODEL + "\n    def session_ended(self):\n        pass\n"
    ran = reactor("check", str(write_model(tmp_path / "app", model=doubtful)))
    assert ran.status == 0
    assert "look  M.session_ended() is not called by the runtime: mark it with" in ran.out


VALUES = MODEL.replace(
    'hue: float = InputField(default=0.5, ge=0, le=1, description="Colour.")',
    """
    mode: Mode = Mode.CALM
    corner: tuple[float, float] = (1, 2)
""",
).replace(
    "class State",
    """from enum import Enum


class Mode(Enum):
    CALM = "calm"
    WILD = "wild"


class State""",
)


def test_values_are_shown_as_clients_send_them(tmp_path: Path) -> None:
    ran = reactor("check", str(write_model(tmp_path / "app", model=VALUES)))
    assert "set_mode(mode: one of calm, wild = calm)" in ran.out
    assert "set_corner(corner: list of (number, number) = (1, 2))" in ran.out
    assert rows(ran.out)["name"] == "M"


WITHOUT_TORCH = """
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else find(name, *rest)
"""


@pytest.mark.parametrize("command", ["check", "serve"])
def test_ranks_that_cannot_meet_are_told_before_they_start(tmp_path: Path, command: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_TORCH)
    app = str(write_model(tmp_path / "app"))
    path = str(tmp_path)
    ran = reactor(command, app, "--world-size", "2", "--device", "cpu", PYTHONPATH=path)
    assert ran.status == 2
    assert "torch is not installed; pip install torch, or set init_process_group" in ran.err
    ran = reactor("check", app, "--world-size", "2", "--no-init-process-group", PYTHONPATH=path)
    assert ran.status == 0
