"""The image, the compose file and the Kubernetes manifest, as far as no engine is needed.

The image's own commands are run, one after the other, in an environment that has nothing of ours,
and what it serves is served where ``/dev/shm`` holds next to nothing.
"""

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.e2e.serving import ROOT, own_address, serving
from tests.e2e.snippets import snippet
from tests.e2e.wire_client import wire_client
from tests.waiting import until

from reactor_runtime.setting_table import SETTINGS

DOCKERFILE = ROOT / "Dockerfile"
SMALL_SHM = 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$0" "$@"'
PRIVATE_MOUNTS = ("unshare", "--mount")
VIDEO = ("main_video", "video")
VARIABLES = {setting.variable for setting in SETTINGS}


def instructions(text: str) -> list[tuple[str, str]]:
    """Return name and argument of each instruction of a Dockerfile."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [
        (name, rest)
        for name, _, rest in (line.partition(" ") for line in joined.split("\n") if line)
    ]


def arguments(name: str) -> list[str]:
    return [rest for each, rest in instructions(DOCKERFILE.read_text()) if each == name]


def environment_of_the_image() -> dict[str, str]:
    return dict(word.split("=", 1) for rest in arguments("ENV") for word in shlex.split(rest))


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    command = [*PRIVATE_MOUNTS, "sh", "-c", SMALL_SHM, "true"]
    return subprocess.run(command, capture_output=True, timeout=10).returncode == 0


@dataclass(frozen=True)
class Image:
    """What the image would hold: its folder, and the programs that were installed."""

    folder: Path
    programs: Path


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Run the COPY and RUN instructions in their order."""
    base = tmp_path_factory.mktemp("image")
    made = Image(folder=base / "app", programs=base / "venv" / "bin")
    made.folder.mkdir()
    venv.create(base / "venv", with_pip=True)
    packages = next((base / "venv").glob("lib/*/site-packages"))
    # What a build would download is here already; ours alone must be installed.
    (packages / "downloaded.pth").write_text(sysconfig.get_path("purelib"))
    for name, rest in instructions(DOCKERFILE.read_text()):
        if name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                copy(ROOT / source, made.folder / target)
        elif name == "RUN":
            build(rest, made)
    return made


def copy(source: Path, target: Path) -> None:
    assert f"!{source.name}" in (ROOT / ".dockerignore").read_text().split()
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def build(command: str, image: Image) -> None:
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "EXTRAS": ""}
    done = subprocess.run(
        ["sh", "-c", command], cwd=image.folder, capture_output=True, text=True, timeout=110,
        env={"PATH": f"{image.programs}:/usr/bin:/bin", **offline},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")
@pytest.mark.skipif(not can_mount(), reason="needs a mount namespace of its own")
@pytest.mark.parametrize("world_size", ["1", "2"])
async def test_what_the_image_runs_serves_a_viewer(image: Image, world_size: str) -> None:
    (command,) = map(json.loads, arguments("CMD"))
    program, verb, target = command
    assert (verb, (image.programs / program).exists()) == ("serve", True)
    given = {"REACTOR_WORLD_SIZE": world_size, "REACTOR_INIT_PROCESS_GROUP": "false"}
    given |= {"REACTOR_PUBLIC_ADDRESS": "203.0.113.7", "REACTOR_TOKEN": ""}
    assert given.keys() == compose()["services"]["model"]["environment"].keys()
    reactor = (*PRIVATE_MOUNTS, "sh", "-c", SMALL_SHM, str(image.programs / program))
    told: dict[str, Any] = {**environment_of_the_image(), **given}
    told.pop("REACTOR_PORT")  # another server may have it
    with serving(target, program=reactor, cwd=image.folder, **told) as served:
        async with wire_client(served.url, VIDEO) as client:
            await until(lambda: client.frames["main_video"], 30)
        (check,) = (json.loads(rest.partition("CMD ")[2]) for rest in arguments("HEALTHCHECK"))
        check = [
            sys.executable,
            *check[1:-1],
            check[-1].replace("http://127.0.0.1:8080", served.url),
        ]
        done = await asyncio.to_thread(subprocess.run, check, timeout=30)
        assert done.returncode == 0
        assert "error" not in served.log()


def test_the_ports_are_the_same_everywhere() -> None:
    fixed = environment_of_the_image()
    port, media = fixed["REACTOR_PORT"], fixed["REACTOR_PORT_RANGE"]
    assert arguments("EXPOSE") == [f"{port}/tcp {media}/udp"]
    assert compose()["services"]["model"]["ports"] == [f"{port}:{port}", f"{media}:{media}/udp"]
    page = (ROOT / "docs" / "containers.md").read_text()
    assert f"-p {port}:{port} -p {media}:{media}/udp" in page
    first, last = map(int, media.split("-"))
    (viewers,) = (setting.default for setting in SETTINGS if setting.name == "max_connections")
    assert last - first + 1 == viewers
    (health,) = arguments("HEALTHCHECK")
    assert f":{port}/health/live" in health


def test_nothing_asks_for_shared_memory_or_root() -> None:
    service = compose()["services"]["model"]
    assert not {"shm_size", "ipc", "privileged", "network_mode"} & service.keys()
    assert arguments("USER") == ["1000"]


def variables() -> Iterator[tuple[str, str]]:
    """Yield where each variable of ours is named, and its name."""
    for name in ("Dockerfile", "compose.yaml", "docs/containers.md"):
        for found in re.findall(r"REACTOR_[A-Z_]+", (ROOT / name).read_text()):
            yield name, found


def test_every_variable_is_one_the_server_reads() -> None:
    unknown = {(where, name) for where, name in variables() if name not in VARIABLES}
    assert unknown == {("docs/containers.md", "REACTOR_WEIGHTS_PATH")}


def test_the_image_of_a_model_builds_on_this_one() -> None:
    text = snippet("docs/containers.md", "dockerfile", "FROM reactor-runtime")
    names = dict(instructions(text))
    assert names["FROM"] == "reactor-runtime"
    assert json.loads(names["CMD"]) == ["reactor", "serve", names["COPY"].split()[1]]
    assert "docker build -t reactor-runtime " in DOCKERFILE.read_text()


def test_the_kubernetes_manifest_asks_for_what_the_server_has() -> None:
    manifest = yaml.safe_load(snippet("docs/containers.md", "yaml", "kind: Deployment"))
    pod = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
    (container,) = pod["spec"]["containers"]
    (port,) = container["ports"]
    probes = ("startupProbe", "livenessProbe", "readinessProbe")
    asked = [container[probe]["httpGet"] for probe in probes]
    assert {probe["port"] for probe in asked} == {port["name"]}
    with serving("examples/clock") as served:
        assert [served.get(probe["path"])[0] for probe in asked] == [200, 200, 200]
    given = {each["name"]: each.get("value") for each in container["env"]}
    ranks = container["resources"]["limits"]["nvidia.com/gpu"]
    assert given["REACTOR_WORLD_SIZE"] == str(ranks)
    grace = next(setting.default for setting in SETTINGS if setting.name == "stop_grace_s")
    assert pod["spec"]["terminationGracePeriodSeconds"] > grace
    assert compose()["services"]["model"]["stop_grace_period"] == f"{grace + 5:g}s"
