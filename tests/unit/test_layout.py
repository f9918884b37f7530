"""The house rules that a number can hold: file, class and function sizes, names, banned habits."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "reactor_runtime"
FILES = sorted(p for p in SOURCE.rglob("*.py") if p.name != "reactor_pb2.py")

MAX_FILE_LINES = 400
MAX_METHODS = 15
MAX_ATTRIBUTES = 10
MAX_FUNCTION_LINES = 40
BANNED_WORDS = {
    "manager", "handler", "service", "helper", "helpers", "utils", "common", "core", "base",
    "internal", "misc", "data", "info",
}  # fmt: skip
PUBLISHED_CLASSES = {"ClientInfo", "FieldInfo"}
PUBLISHED_FILES = {"client_info"}
# Published surfaces, and values whose fields are a specification's.
METHODS_EXEMPT = {"ReactorModel"}
RUNS_WHAT_A_SCRIPT_HAS_REGISTERED = {"launcher/rank_entry.py"}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in FILES:
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def where(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 1)}"


def words(name: str) -> set[str]:
    spaced = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return set(spaced.strip("_").split("_"))


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for path, tree in trees():
        yield from ((path, n) for n in ast.walk(tree) if isinstance(n, ast.ClassDef))


def functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield path, node


def is_value(node: ast.ClassDef) -> bool:
    """A frozen dataclass or a pydantic model: its fields are facts, not machinery."""
    marks = [ast.unparse(d) for d in node.decorator_list] + [ast.unparse(b) for b in node.bases]
    return any("frozen=True" in m or "BaseModel" in m or "Protocol" in m for m in marks)


def attributes(node: ast.ClassDef) -> set[str]:
    return {
        target.attr
        for stmt in ast.walk(node)
        if isinstance(stmt, ast.Assign | ast.AnnAssign)
        for target in ast.walk(stmt)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }


def body_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the function less its docstring."""
    total = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


def test_the_source_is_found() -> None:
    assert len(FILES) > 10


def test_files_stay_under_the_ceiling() -> None:
    long = {
        str(p.relative_to(SOURCE)): n
        for p in FILES
        if (n := len(p.read_text().splitlines())) > MAX_FILE_LINES
    }
    assert long == {}


def test_page_files_stay_under_the_ceiling() -> None:
    page = SOURCE / "http" / "page"
    long = {
        p.name: n
        for p in page.iterdir()
        if p.suffix in {".js", ".css", ".html"}
        and (n := len(p.read_text().splitlines())) > MAX_FILE_LINES
    }
    assert long == {}


def test_classes_have_few_methods() -> None:
    wide = {}
    for path, node in classes():
        methods = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        own = [m for m in methods if not (m.name.startswith("__") and m.name.endswith("__"))]
        if len(own) > MAX_METHODS and node.name not in METHODS_EXEMPT:
            wide[f"{where(path, node)} {node.name}"] = len(own)
    assert wide == {}


def test_classes_have_few_attributes() -> None:
    wide = {
        f"{where(path, node)} {node.name}": sorted(names)
        for path, node in classes()
        if not is_value(node) and len(names := attributes(node)) > MAX_ATTRIBUTES
    }
    assert wide == {}


def test_functions_are_short() -> None:
    long = {
        f"{where(path, node)} {node.name}": n
        for path, node in functions()
        if (n := body_lines(node)) > MAX_FUNCTION_LINES
    }
    assert long == {}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_names_say_what_a_thing_is(path: Path) -> None:
    assert path.stem in PUBLISHED_FILES or not words(path.stem) & BANNED_WORDS
    assert path.stem in {"__init__", "__main__"} or not path.stem.startswith("_")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name not in PUBLISHED_CLASSES:
            assert not words(node.name) & BANNED_WORDS, where(path, node)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_banned_habits(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert node.name != "__del__", where(path, node)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, where(path, node)
        if isinstance(node, ast.Import):
            is_runner = str(path.relative_to(SOURCE)) in RUNS_WHAT_A_SCRIPT_HAS_REGISTERED
            assert is_runner or "atexit" not in {a.name for a in node.names}, where(path, node)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            assert ast.unparse(node.exc.func) != "RuntimeError", where(path, node)


def test_every_module_but_init_explains_itself() -> None:
    silent = [
        str(path.relative_to(SOURCE))
        for path, tree in trees()
        if path.name != "__init__.py" and ast.get_docstring(tree) is None
    ]
    assert silent == []
