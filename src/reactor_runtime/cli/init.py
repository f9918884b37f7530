"""``reactor init NAME``: a folder with a working model, its manifest, a test and a README."""

import importlib.util
import keyword
import re
import shlex
import string
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from reactor_runtime.errors import SettingError

# Template to the file it becomes; "$module" is the model's own file name.
_FILES = {
    "model.py.txt": "$module.py",
    "reactor.yaml.txt": "reactor.yaml",
    "test_model.py.txt": "test_$module.py",
    "pytest.ini.txt": "pytest.ini",
    "README.md.txt": "README.md",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*")
_MAX_NAME = 64
_WANTED = "letters, digits, - and _, beginning with a letter, such as my-model"


def init(
    name: Annotated[str, typer.Argument(help="The model's name; a folder of this name is made.")],
) -> int:
    """Write a new model: a folder with the class, reactor.yaml, a test and a README."""
    folder = Path(name)
    words = _words_of(folder.name)
    module = "_".join(words).lower()
    _check_module(name, module)
    if folder.exists():
        raise SettingError("NAME", f"{folder}, which exists", "a folder that does not exist yet")
    try:
        folder.mkdir()
    except OSError as error:
        found = f"{folder} ({error.strerror})"
        raise SettingError("NAME", found, "a name in a folder that can be written") from None
    class_name = "".join(word[0].upper() + word[1:] for word in words)
    written = _write(folder, {"name": folder.name, "module": module, "Class": class_name})
    typer.echo(f"wrote {folder}: {', '.join(written)}")
    typer.echo(f"next: cd {shlex.quote(str(folder))} && reactor serve .")
    return 0


def _words_of(name: str) -> list[str]:
    if not _NAME.fullmatch(name) or len(name) > _MAX_NAME:
        raise SettingError("NAME", repr(name[:_MAX_NAME]), _WANTED)
    return re.split(r"[-_]", name)


def _check_module(name: str, module: str) -> None:
    """Refuse a name under which the model could not be imported."""
    taken = {"reactor_runtime", "numpy", "pytest"}
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        raise SettingError("NAME", f"{name!r}, a word of Python itself", "another name")
    if module in sys.stdlib_module_names or module in taken or _is_installed(module):
        raise SettingError("NAME", f"{name!r}, which would hide a Python module", "another name")


def _is_installed(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    origin = None if spec is None else spec.origin
    return origin is not None and not Path(origin).is_relative_to(Path.cwd())


def _write(folder: Path, words: dict[str, str]) -> list[str]:
    templates = files("reactor_runtime.cli") / "templates"
    written = []
    for template, file_name in _FILES.items():
        text = (templates / template).read_text(encoding="utf-8")
        name = string.Template(file_name).substitute(words)
        (folder / name).write_text(string.Template(text).substitute(words), encoding="utf-8")
        written.append(name)
    return written
