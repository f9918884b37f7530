"""The suite imports what authors may: nothing here passes because of what they do not have."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PUBLIC = {
    "reactor_runtime",
    "reactor_runtime.distributed",
    "reactor_runtime.experimental",
    "reactor_runtime.interface",
    "reactor_runtime.interface.model",
    "reactor_runtime.interface.model.contract",
    "reactor_runtime.interface.pipeline.idle",
    "reactor_runtime.log",
    "reactor_runtime.manifest",
    "reactor_runtime.paths",
    "reactor_runtime.schema",
    "reactor_runtime.serve",
    "reactor_runtime.testing",
}
ADAPTERS = sorted(p for p in (HERE / "adapters").glob("*.py") if p.stem != "paint")
MODELS = sorted([*HERE.glob("adapters/*.py"), *HERE.glob("repositories/**/*.py")])


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_imports_public_paths_only(path: Path) -> None:
    ours = {name for name in imported(path) if name.startswith("reactor_runtime")}
    assert ours <= PUBLIC


def test_there_is_an_adapter_for_each_behaviour_and_each_is_used() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("test_*.py"))
    assert len(ADAPTERS) + len(list(HERE.glob("repositories/*"))) >= 40
    assert [path.stem for path in ADAPTERS if f"adapters.{path.stem} " not in tests] == []
