"""A model's schema without serving it: ``python -m reactor_runtime.schema --path . --out f``.

Neither media nor network is loaded, nor is the model: its class is imported and read.
"""

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reactor_runtime.errors import ConfigurationError
from reactor_runtime.manifest import load_config
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.openapi import UNSTAMPED
from reactor_runtime.model_import import import_model_class


def render(folder: str | Path = ".", version: str = UNSTAMPED) -> dict[str, Any]:
    """Return the OpenAPI document of the model whose manifest is in *folder*.

    Args:
        folder: The manifest's folder, or the manifest.
        version: What ``info.version`` says.

    Raises:
        ConfigurationError: The manifest cannot be read or its class not be imported.
        TypeError: A declaration of the class makes no sense.
    """
    manifest = load_config(folder)
    contract = ModelContract.of(import_model_class(manifest.model_ref, manifest.folder))
    schema = contract.render_schema(manifest.name or "", manifest.description or "")
    return schema.to_openapi(version)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the document to a file or standard output; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m reactor_runtime.schema", description="Write a model's OpenAPI document."
    )
    parser.add_argument("--path", default=".", help="folder of reactor.yaml, or the file")
    parser.add_argument("--version", default=UNSTAMPED, help="what info.version says")
    parser.add_argument("--out", default="-", help="file to write; - for standard output")
    chosen = parser.parse_args(arguments)
    try:
        document = render(chosen.path, chosen.version)
    except (ConfigurationError, TypeError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    text = json.dumps(document, indent=2, allow_nan=False) + "\n"
    if chosen.out == "-":
        sys.stdout.write(text)
    else:
        Path(chosen.out).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
