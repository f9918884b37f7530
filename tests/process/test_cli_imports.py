"""Where ``reactor`` finds a model's modules, from wherever it is started."""

from pathlib import Path

import pytest
from tests.process.cli import MODEL, reactor, write_model

SIBLING = "from palette import NAME\n" + MODEL.replace('"""Grey."""', "__doc__ = NAME")


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    return write_model(tmp_path / "app", model=SIBLING, palette="NAME = 'found it'\n")


@pytest.mark.parametrize(
    ("cwd", "target"),
    [("app", "."), ("app", "reactor.yaml"), ("app", "model:M"), (".", "app"),
     (".", "app/reactor.yaml"), ("/", "{absolute}")],
)  # fmt: skip
def test_siblings_are_found_from_everywhere(
    flat: Path, tmp_path: Path, cwd: str, target: str
) -> None:
    ran = reactor("check", target.format(absolute=flat), cwd=tmp_path / cwd)
    assert ran.status == 0, ran.err


def test_a_package_with_relative_imports_is_found_from_above(tmp_path: Path) -> None:
    package = MODEL.replace("import numpy as np", "import numpy as np\nfrom .palette import NAME")
    write_model(tmp_path / "app", "runtime: {import: 'pkg.model:M'}\n", pkg__model=package,
                pkg__palette="NAME = 1\n")  # fmt: skip
    (tmp_path / "app" / "pkg" / "__init__.py").touch()
    for cwd, target in (
        (tmp_path, "app"),
        (tmp_path / "app", "."),
        (Path("/"), str(tmp_path / "app")),
    ):
        assert reactor("check", target, cwd=cwd).status == 0


def test_a_manifest_inside_the_package_is_told_where_to_go(tmp_path: Path) -> None:
    write_model(tmp_path / "pkg", model="from .palette import NAME\n", palette="NAME = 1\n")
    ran = reactor("check", "pkg", cwd=tmp_path)
    assert ran.status == 2
    assert "above the package" in ran.err


@pytest.mark.parametrize("name", ["queue", "platform", "random", "types", "logging", "selectors"])
def test_a_file_named_like_a_standard_module_breaks_nothing_and_is_told(
    flat: Path, name: str
) -> None:
    (flat / f"{name}.py").write_text("raise RuntimeError('it hid a standard module')\n")
    ran = reactor("check", str(flat))
    assert ran.status == 0, ran.err
    (line,) = ran.err.splitlines()
    assert "module_hidden_by_standard_library" in line
    assert name in line


def test_a_model_in_a_file_named_like_a_standard_module_is_told(tmp_path: Path) -> None:
    write_model(tmp_path / "app", "runtime: {import: 'colorsys:M'}\n", colorsys=MODEL)
    ran = reactor("check", "app", cwd=tmp_path)
    assert ran.status == 2
    assert "rename colorsys.py" in ran.err.splitlines()[-1]
