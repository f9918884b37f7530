"""Importing a model class: siblings are found, and every failure says what and where."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reactor_runtime.errors import ModelImportError
from reactor_runtime.manifest import import_model_class as published
from reactor_runtime.model_import import import_model_class

Write = Callable[..., Path]

MODEL = "from reactor_runtime import ReactorModel\nclass M(ReactorModel):\n    pass\n"


@pytest.fixture(autouse=True)
def _path_and_modules_as_before() -> Iterator[None]:
    path, modules = [*sys.path], dict(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - set(modules):
        if not name.startswith("reactor_runtime"):
            del sys.modules[name]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def save(folder: str = "app", **modules: str) -> Path:
        home = tmp_path / folder
        for name, text in modules.items():
            file = home / f"{name.replace('__', '/')}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return home

    return save


def refused(ref: str, folder: Path) -> ModelImportError:
    with pytest.raises(ModelImportError) as caught:
        import_model_class(ref, folder)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_module_beside_the_manifest_and_its_siblings_are_found(write: Write) -> None:
    home = write(mi_model=f"from mi_sibling import WORD\n{MODEL}    word = WORD\n",
                 mi_sibling="WORD = 'found'\n")  # fmt: skip
    model = import_model_class("mi_model:M", home)
    assert model.word == "found"
    assert model.__module__ == "mi_model"
    assert published is import_model_class


def test_without_a_folder_the_current_one_counts(write: Write, monkeypatch: Any) -> None:
    monkeypatch.chdir(write(mi_here=MODEL))
    assert import_model_class("mi_here:M").__name__ == "M"


def test_a_sibling_can_be_imported_later_too(write: Write) -> None:
    home = write(mi_lazy=f"{MODEL}    def load(self, path):\n        import mi_late\n"
                 "        return mi_late.WORD\n", mi_late="WORD = 'late'\n")  # fmt: skip
    assert import_model_class("mi_lazy:M", home)().load(None) == "late"


def test_a_package_with_relative_imports_below_the_manifest_works(write: Write) -> None:
    home = write(
        mi_pkg__app=f"from .parts import WORD\n{MODEL}    word = WORD\n",
        mi_pkg__parts="WORD = 'relative'\n",
    )
    (home / "mi_pkg" / "__init__.py").touch()
    assert import_model_class("mi_pkg.app:M", home).word == "relative"


def test_a_package_without_init_works(write: Write) -> None:
    home = write(mi_space__app=f"from .parts import WORD\n{MODEL}    word = WORD\n",
                 mi_space__parts="WORD = 1\n")  # fmt: skip
    assert import_model_class("mi_space.app:M", home).word == 1


def test_a_class_in_a_class_is_found(write: Write) -> None:
    home = write(mi_outer="from reactor_runtime import ReactorModel\nclass Outer:\n"
                 "    class M(ReactorModel): pass\n")  # fmt: skip
    assert import_model_class("mi_outer:Outer.M", home).__qualname__ == "Outer.M"


def test_two_folders_with_the_same_module_names_do_not_mix(write: Write) -> None:
    first = write("one", mi_same=f"from mi_part import WORD\n{MODEL}    word = WORD\n",
                  mi_part="WORD = 1\n")  # fmt: skip
    second = write("two", mi_same=f"from mi_part import WORD\n{MODEL}    word = WORD\n",
                   mi_part="WORD = 2\n")  # fmt: skip
    models = [import_model_class("mi_same:M", home) for home in (first, second, first)]
    assert [model.word for model in models] == [1, 2, 1]


# --- names that Python has too -------------------------------------------------------------------


def test_a_model_named_like_a_standard_module_is_reported(write: Write) -> None:
    home = write(random=MODEL)
    error = refused("random:M", home)
    assert "random.py" in str(error)
    assert "rename" in error.advice


def test_a_sibling_named_like_a_standard_module_breaks_nothing(write: Write) -> None:
    home = write(mi_clean=f"import queue, colorsys, sched\n{MODEL}    made = queue.Queue\n",
                 queue="raise RuntimeError('never imported')\n",
                 colorsys="raise RuntimeError('never imported')\n",
                 sched="raise RuntimeError('never imported')\n")  # fmt: skip
    assert import_model_class("mi_clean:M", home).made.__module__ == "queue"


def test_the_clash_is_named_when_it_is_the_cause(write: Write) -> None:
    home = write(mi_clash=f"from colorsys import my_palette\n{MODEL}", colorsys="my_palette = 1\n")
    error = refused("mi_clash:M", home)
    assert error.place == "mi_clash.py, line 1"
    assert "colorsys.py" in error.advice
    assert "rename" in error.advice


# --- what can be wrong ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ref", ["", "m", "m.M", "m.py:M", "./m:M", "m:M:M", "m:", ":M", "m:1", "if:M"]
)
def test_a_reference_of_another_form_says_so(ref: str, tmp_path: Path) -> None:
    assert "module:Class" in refused(ref, tmp_path).advice


def test_a_dotted_class_gets_a_suggestion(tmp_path: Path) -> None:
    assert "model:MyModel" in refused("model.MyModel", tmp_path).advice


def test_a_missing_module_names_the_folder_and_what_is_there(write: Write) -> None:
    home = write(mi_worldlet=MODEL)
    error = refused("mi_wordlet:M", home)
    assert str(home) in error.reason
    assert "mi_worldlet" in error.advice
    assert "mi_worldlet" in refused("something:M", home).advice


def test_a_missing_module_in_a_package_is_named(write: Write) -> None:
    home = write(mi_box__thing=MODEL)
    error = refused("mi_box.thin:M", home)
    assert "mi_box.thin" in error.reason
    assert "mi_box.thing" in error.advice


def test_a_module_that_is_no_package_is_named(write: Write) -> None:
    home = write(mi_flat=MODEL)
    assert "not a package" in refused("mi_flat.app:M", home).advice


def test_a_missing_dependency_names_the_line_that_wants_it(write: Write) -> None:
    home = write(mi_needs="import numpy\nimport a_package_that_is_not_there\n" + MODEL)
    error = refused("mi_needs:M", home)
    assert error.place == "mi_needs.py, line 2"
    assert "a_package_that_is_not_there" in error.reason
    assert "install" in error.advice


def test_a_relative_import_without_a_package_says_where_the_manifest_goes(write: Write) -> None:
    home = write(mi_relative=f"from .parts import WORD\n{MODEL}")
    error = refused("mi_relative:M", home)
    assert "above the package" in error.advice


def test_a_syntax_error_names_the_line(write: Write) -> None:
    error = refused("mi_syntax:M", write(mi_syntax="x = 1\ndef f(:\n"))
    assert error.place == "mi_syntax.py, line 2"
    assert error.reason.startswith("SyntaxError")


def test_an_error_while_importing_names_the_authors_line(write: Write) -> None:
    home = write(mi_raises="import json\nfrom mi_deep import WORD\n",
                 mi_deep="import json\nWORD = json.loads('{')\n")  # fmt: skip
    error = refused("mi_raises:M", home)
    assert error.place == "mi_deep.py, line 2"
    assert error.reason.startswith("JSONDecodeError")


def test_a_declaration_that_makes_no_sense_names_the_authors_line(write: Write) -> None:
    home = write(mi_declares="from reactor_runtime import InputField, InputState\n"
                 "class S(InputState):\n    x: float = InputField(default=3, le=1)\n")  # fmt: skip
    error = refused("mi_declares:S", home)
    assert error.place is not None
    assert error.place.startswith("mi_declares.py, line ")
    assert error.reason.startswith("TypeError")


def test_a_module_that_ends_the_process_does_not(write: Write) -> None:
    error = refused("mi_exits:M", write(mi_exits="import sys\nsys.exit(3)\n"))
    assert "exit status 3" in error.reason
    assert "__main__" in error.advice


def test_an_unknown_class_is_suggested_or_listed(write: Write) -> None:
    home = write(mi_names="from reactor_runtime import ReactorModel, ReactorPipeline\n"
                 "class Worldlet(ReactorModel): pass\nclass Other: pass\n")  # fmt: skip
    assert "Worldlet" in refused("mi_names:Wordlet", home).advice
    assert refused("mi_names:Xyz", home).advice == "there is Worldlet"
    assert "no model class" in refused("mi_empty:M", write(mi_empty="x = 1\n")).advice


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Plain", "no ReactorModel"),
        ("make", "function"),
        ("ReactorModel", "no ReactorModel"),
    ],
)
def test_what_is_no_model_class_says_so(write: Write, name: str, words: str) -> None:
    home = write(mi_kinds=f"{MODEL}class Plain: pass\ndef make(): pass\n")
    error = refused(f"mi_kinds:{name}", home)
    assert words in error.reason
    assert "subclass of ReactorModel" in error.advice


@pytest.mark.parametrize("base", ["ReactorModel", "ReactorApp", "ReactorPipeline"])
def test_every_lineage_is_a_model(write: Write, base: str) -> None:
    home = write(mi_bases=f"from reactor_runtime import {base} as B\nclass M(B): pass\n")
    assert import_model_class("mi_bases:M", home).__name__ == "M"


def test_an_interrupt_out_of_a_module_is_no_persons(write: Write) -> None:
    folder = write(mi_interrupts="raise KeyboardInterrupt\n")
    with ThreadPoolExecutor(1) as thread:  # where a server imports
        error = thread.submit(refused, "mi_interrupts:M", folder).result()
    assert "mi_interrupts.py, line 1: KeyboardInterrupt" in str(error)
    with pytest.raises(KeyboardInterrupt):
        import_model_class("mi_interrupts:M", folder)


@pytest.mark.parametrize("name", ["aiortc", "cryptography", "google"])
def test_a_file_that_would_hide_what_the_runtime_loads_later_is_named(
    write: Write, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = write(mi_beside=MODEL, **{name: "x = 1\n"})
    with monkeypatch.context() as patched:
        patched.delitem(sys.modules, name, raising=False)
        error = refused("mi_beside:M", home)
    assert f"{name}.py would hide the package {name!r}" in error.reason
    assert error.advice == f"rename {name}.py"
    assert str(home) not in sys.path
    monkeypatch.setitem(sys.modules, name, sys)  # it is there already, and is not looked for
    assert import_model_class("mi_beside:M", home).__name__ == "M"
