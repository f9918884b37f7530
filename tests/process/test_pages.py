"""What the pages of the documentation show runs as it stands; no page shows what nothing runs."""

import contextlib
import importlib
import importlib.util
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.e2e.serving import ROOT, free_port, serving
from tests.e2e.snippets import PAGES, Block, blocks, snippet, write_files
from tests.process.cli import environment, reactor
from tests.waiting import wait_for

from reactor_runtime.cli.main import app
from reactor_runtime.manifest import load_config
from reactor_runtime.testing import ModelHarness

PRINTED = {"", "text", "console"}  # what is said, not what is run
# Which test runs a snippet that the tests on its own page do not: by its file, or how it begins.
RUN_IN: dict[str, dict[str, str]] = {
    "README.md": {
        "flow.py": "e2e/test_readme.py",
        "from reactor_sdk import": "e2e/test_readme.py",
        "@@ sharded_diffusion.py": "process/test_sharded_diffusion.py",
        "from reactor_runtime.experimental": "process/test_pages.py",
        "examples/launch/all_reduce.yaml": "process/launcher/test_commands.py",
    },
    "docs/clients.md": {
        "collage.py": "e2e/test_clients_page.py",
        "start.py": "e2e/test_clients_page.py",
        "upload.py": "e2e/test_clients_page.py",
        "from reactor_sdk import": "e2e/test_clients_page.py",
        "// collage.js": "e2e/test_clients_page.py",
        "import asyncio": "e2e/test_clients_page.py",
        "curl": "e2e/test_clients_page.py",
        "<!-- watch.html -->": "e2e/test_open_standards.py",
        "<!-- camera.html -->": "e2e/test_open_standards.py",
    },
    "docs/containers.md": {
        "Dockerfile": "e2e/test_containers.py",
        "kubernetes.yaml": "e2e/test_containers.py",
        "docker build -t reactor-runtime": "e2e/test_containers.py",
    },
    "docs/first-model.md": {
        "tunnel.py": "process/test_first_model_page.py",
        "outline.py": "process/test_first_model_page.py",
        "counter.py": "process/test_first_model_page.py",
        "every_field.py": "process/test_first_model_page.py",
        "diary.py": "process/test_first_model_page.py",
        "glow/glow.py": "process/test_first_model_page.py",
        "glow/small.yaml": "process/test_first_model_page.py",
        "by_hand.py": "process/test_first_model_page.py",
    },
    "docs/launching.md": {
        "from reactor_runtime.offline": "process/test_pages.py",
        "job.yaml": "process/launcher/test_launching_page.py",
        "sum_ranks.py": "process/launcher/test_launching_page.py",
        "#!/bin/sh": "process/launcher/test_launching_page.py",
        "(umask 077": "process/launcher/test_launching_page.py",
        "kubernetes.yaml": "process/launcher/test_launching_page.py",
    },
    "docs/metrics.md": {"curl": "process/test_pages.py"},
    "docs/migrating.md": {
        "reactor check": "process/test_pages.py",
        "-        while True:": "process/test_pages.py",
    },
    "docs/quickstart.md": {
        "make serve": "process/test_pages.py",
        ". .venv/bin/activate": "process/test_pages.py",
        "pip install pytest": "process/test_pages.py",
        "reactor serve . --world-size 2": "process/test_pages.py",
    },
    "docs/serving.md": {
        "export REACTOR_TURN": "process/test_pages.py",
        "turnserver": "process/test_pages.py",
    },
}
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")


def shown_tests(page: str) -> str:
    """Return the text of all tests that a page shows."""
    files = (b for b in blocks(page) if b.file and Path(b.file).name.startswith("test_"))
    return "".join(block.text for block in files)


def marks_of(page: str) -> list[pytest.MarkDecorator]:
    if "init_process_group=True" not in shown_tests(page):
        return []
    return [pytest.mark.torch, needs_torch, pytest.mark.timeout(400)]


def manifests() -> Iterator[Block]:
    """Yield every manifest that a page shows."""
    for page in PAGES:
        yield from (b for b in blocks(page) if b.file and b.file.endswith("reactor.yaml"))


def commands() -> Iterator[tuple[str, str]]:
    """Yield page and text of every ``reactor`` command that a page shows in a block."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for line in re.findall(r"^(?:    |\$ )?(reactor [^\[\n].*)$", text, re.MULTILINE):
            yield page, line


@pytest.mark.parametrize("page", PAGES)
def test_no_page_shows_what_nothing_runs(page: str) -> None:
    run_in, own_tests = RUN_IN.get(page, {}), shown_tests(page)
    unused = set(run_in)
    for block in blocks(page):
        key = block.file or block.first_line
        found = {begin for begin in run_in if key.startswith(begin)}
        unused -= found
        name = Path(key)
        is_run = name.stem.startswith("test_") or name.name == "reactor.yaml"
        module = ".".join(name.with_suffix("").parts)
        is_run = is_run or f"from {module} import" in own_tests or bool(found)
        is_run = is_run or f'"{key}"' in own_tests
        assert block.language in PRINTED or is_run, f"{page}: nothing runs the snippet {key}"
    assert unused == set()
    for test in run_in.values():
        assert Path(page).name in (ROOT / "tests" / test).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=marks_of(page)) for page in PAGES if shown_tests(page)]
)
def test_the_tests_of_a_page_pass(page: str, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(
        [*command, "-W", "default::pytest.PytestDeprecationWarning"],
        cwd=tmp_path, capture_output=True, text=True, timeout=350, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("page", [p for p in PAGES if "importorskip" in shown_tests(p)])
def test_the_tests_of_a_page_are_skipped_without_torch(page: str, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    (tmp_path / "conftest.py").write_text("import sys\n\nsys.modules['torch'] = None\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment(),
    )  # fmt: skip
    assert re.fullmatch(r"(\d passed, )?1 skipped.*", done.stdout.splitlines()[-1]), done.stdout


def test_a_manifest_stands_beside_what_it_names() -> None:
    for shown in manifests():
        assert shown.file is not None
        named = re.search(r"import: (\w+):", shown.text)
        files = [Path(block.file) for block in blocks(shown.page) if block.file]
        classes = [file for file in files if named and file.name == f"{named[1]}.py"]
        folders = {file.parent for file in classes}
        assert not classes or Path(shown.file).parent in folders, f"{shown.page}: {shown.file}"


@pytest.mark.parametrize(
    "shown", [pytest.param(block, id=f"{block.page}:{block.file}") for block in manifests()]
)
def test_the_manifests_of_a_page_are_right(shown: Block, tmp_path: Path) -> None:
    manifest = tmp_path / "reactor.yaml"
    manifest.write_text(shown.text)
    assert set(load_config(manifest).ignored) <= {"apiVersion", "kind"}


@pytest.mark.parametrize(("page", "line"), list(commands()))
def test_the_commands_of_a_page_are_ones_that_reactor_takes(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    words = words[: words.index("&&")] if "&&" in words else words
    words = [word for word in words if word not in {"…", "&"}]
    group: Any = typer.main.get_command(app)
    context = group.make_context("reactor", list(words))
    command = group.get_command(context, words[0])
    assert command is not None, f"there is no {words[0]}"
    command.make_context(words[0], words[1:], parent=context)


def test_make_says_how_it_is_told_of_another_port(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "reactor").symlink_to(Path(sys.executable).parent / "reactor")
    (tmp_path / ".serve").touch()  # as if the package had been installed here
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        made = subprocess.run(
            ["make", "serve", f"VENV={tmp_path}", f"PORT={port}", "MODEL=examples/clock"],
            cwd=ROOT, capture_output=True, text=True, timeout=60, env=environment(),
        )  # fmt: skip
    assert f"port {port}: the address is in use" in made.stderr
    assert "make serve: PORT=8081" in made.stderr
    assert "`make serve PORT=8081`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"


def test_the_quick_start_from_its_first_command_to_its_last(tmp_path: Path) -> None:
    page = "docs/quickstart.md"
    made = subprocess.run(["make", "-n", "serve"], cwd=ROOT, capture_output=True, text=True)
    assert "reactor serve examples/worldlet" in made.stdout
    _, init, enter, serve = snippet(page, "sh", "reactor init").splitlines()
    assert reactor(*shlex.split(init)[1:], cwd=tmp_path).status == 0
    folder = tmp_path / enter.split()[1]
    written = {path.name for path in folder.iterdir()}
    with serving(*shlex.split(serve)[2:], cwd=folder):
        pass
    assert set(write_files(page, folder)) < written
    python, *arguments = snippet(page, "sh", "pip install").splitlines()[1].split()
    assert python == "python"
    command = [sys.executable, *arguments]
    tested = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=100, env=environment()
    )
    assert "2 passed" in tested.stdout, tested.stdout
    with serving(*snippet(page, "sh", "--world-size 2").split()[2:], cwd=folder) as served:
        assert served.get("/health/ready")[0] == 200


def test_the_loop_of_the_page_on_migrating_takes_turns_after_its_diff(
    tmp_path: Path, serve_model: Callable[..., ModelHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = "docs/migrating.md"
    lines = snippet(page, "diff", "self.turns()").splitlines(keepends=True)
    old, new = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
    source = snippet(page, "python", "# ripple/ripple.py")
    assert source.count(old) == 1
    (tmp_path / "ripple_in_turns.py").write_text(source.replace(old, new))
    monkeypatch.syspath_prepend(str(tmp_path))
    model = importlib.import_module("ripple_in_turns").Ripple
    client = serve_model(model, world_size=2).connect()
    assert [frame.data[0, 0, 0] for frame in client.frames("main_video", count=3)] == [1, 2, 3]


@pytest.mark.torch
@needs_torch
def test_the_escape_hatch_of_the_readme(tmp_path: Path) -> None:
    shown = snippet("README.md", "py", "WorkerGroup")
    render = "def render(prompt, band):\n    return len(prompt)\n\n\n"
    check = "    assert chunk.shape == (12, 720, 1280, 3) and (chunk == 7).all()\n"
    head, end, tail = shown.partition("    group.shutdown()\n")
    (tmp_path / "bands.py").write_text(render + head + check + end + tail)
    done = subprocess.run(
        [sys.executable, "bands.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment(),
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_the_offline_run_of_the_page_on_jobs(tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text(snippet("README.md", "python", "# flow.py"))
    code = snippet("docs/launching.md", "python", "run_offline")
    code = code.replace("set_prompt", "set_hue").replace('{"prompt": "a fox"}', '{"hue": 0.9}')
    (tmp_path / "film.py").write_text("from flow import Flow as MyModel\n" + code)
    done = subprocess.run(
        [sys.executable, "film.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100, env=environment(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "film.mkv").stat().st_size > 10_000


def test_the_relay_of_the_page_on_serving_is_taken(tmp_path: Path) -> None:
    relay = snippet("docs/serving.md", "sh", "REACTOR_TURN")
    value = re.findall(r'"(.*)"', relay)[0]
    (tmp_path / "flow.py").write_text(snippet("README.md", "python", "# flow.py"))
    (tmp_path / "reactor.yaml").write_text(snippet("README.md", "yaml", "flow:Flow"))
    ran = reactor("check", cwd=tmp_path, REACTOR_TURN=value)
    assert ran.status == 0, ran.err
    assert "s3cret" not in ran.out
    assert "environment REACTOR_TURN" in ran.out


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_figures_of_the_page_on_metrics_can_be_asked_for() -> None:
    command = snippet("docs/metrics.md", "sh", "curl")
    with serving("examples/clock") as served:
        asked = command.replace("http://127.0.0.1:8080", served.url)
        done = subprocess.run(["sh", "-c", asked], capture_output=True, text=True, timeout=30)
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "reactor_ready", "reactor_clients", "reactor_stream_fps",
    ]  # fmt: skip


@pytest.mark.skipif(shutil.which("turnserver") is None, reason="coturn is not installed")
def test_the_relay_of_the_page_on_serving_starts(tmp_path: Path) -> None:
    line = snippet("docs/serving.md", "sh", "turnserver").replace("192.0.2.1", "127.0.0.1")
    port = free_port()
    words = [*shlex.split(line), f"--listening-port={port}", "--pidfile=pid", "--userdb=users"]
    relay = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:

        def listens() -> bool:
            assert relay.poll() is None, f"it ended with {relay.returncode}"
            with contextlib.suppress(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), 5).close()
                return True
            return False

        wait_for(listens)
    finally:
        relay.kill()
        relay.wait(10)
