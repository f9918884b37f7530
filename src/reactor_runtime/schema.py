"""A model's schema without serving it: ``python -m reactor_runtime.schema --path . --out f``.

Neither media nor network is loaded, nor is the model: its class is imported and read.
"""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # ``python -m`` puts the current folder first, where a file of the author's would hide a module
    # of the standard library from everything imported below.
    sys.path.append(sys.path.pop(0))

import argparse
import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reactor_runtime.errors import ConfigurationError, ModelImportError
from reactor_runtime.manifest import load_config
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.openapi import UNSTAMPED
from reactor_runtime.settings import ServeSettings, from_manifest, import_served_class


def render(folder: str | Path = ".", version: str = UNSTAMPED) -> dict[str, Any]:
    """Return the OpenAPI document of the model whose manifest is in *folder*.

    Args:
        folder: The manifest's folder, or the manifest.
        version: What ``info.version`` says; by default the manifest's ``model.version``, if any.

    Raises:
        ConfigurationError: The manifest or the class cannot be read; it says where and why.
    """
    return render_document(ServeSettings(**from_manifest(load_config(folder))), version)


def read_model(settings: ServeSettings) -> tuple[type[Any], ModelContract]:
    """Import the class that *settings* name, once, and read it.

    What its module prints goes to standard error: it is not the document.

    Raises:
        ModelImportError: It cannot be imported, or a declaration in it makes no sense.
    """
    with contextlib.redirect_stdout(sys.stderr):
        model = import_served_class(settings)
    try:
        return model, ModelContract.of(model)
    except TypeError as error:
        raise ModelImportError(settings.model_ref, str(error)) from error


def render_document(settings: ServeSettings, version: str = UNSTAMPED) -> dict[str, Any]:
    """Return the OpenAPI document of the class that *settings* name, under the model's own name.

    Its version is the model's own, too, unless *version* says another.

    Raises:
        ModelImportError: It cannot be imported, or a declaration in it makes no sense.
    """
    _, contract = read_model(settings)
    schema = contract.render_schema(settings.name or "", settings.description or "")
    own = settings.version or UNSTAMPED
    return schema.to_openapi(own if version == UNSTAMPED else version)


def write_document(document: Mapping[str, Any], out: Path | None) -> None:
    """Write *document* as JSON to *out*, or to standard output."""
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the document of a folder's model; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m reactor_runtime.schema", description="Write a model's OpenAPI document."
    )
    parser.add_argument("--path", default=".", help="folder of reactor.yaml, or the file")
    parser.add_argument(
        "--version", default=UNSTAMPED, help="what info.version says; else the manifest's"
    )
    parser.add_argument("--out", type=Path, help="file to write; standard output if not given")
    chosen = parser.parse_args(arguments)
    try:
        write_document(render(chosen.path, chosen.version), chosen.out)
    except (ConfigurationError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
