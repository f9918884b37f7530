"""``reactor schema``: the model's OpenAPI document, without loading the model."""

from pathlib import Path
from typing import Annotated

import typer

from reactor_runtime.errors import SettingError


def schema(
    target: Annotated[
        str, typer.Argument(help="A folder with a reactor.yaml, a reactor.yaml, or module:Class.")
    ] = ".",
    *,
    version: Annotated[
        str, typer.Option(help="The version to stamp; else the manifest's.", show_default=False)
    ] = "v0.0.0",
    out: Annotated[Path | None, typer.Option(help="Write to this file, not to stdout.")] = None,
) -> int:
    """Print the OpenAPI document of a model; the class is imported, not loaded.

    Its paths describe commands, which travel over a data channel, not HTTP routes.
    """
    from reactor_runtime.schema import render_document, write_document
    from reactor_runtime.settings import resolve_settings

    document = render_document(resolve_settings(target).settings, version)
    try:
        write_document(document, out)
    except FileNotFoundError:
        raise SettingError("--out", str(out), "a path in a folder that exists") from None
    except (IsADirectoryError, PermissionError) as error:
        raise SettingError("--out", f"{out} ({error.strerror})", "a file to write") from None
    return 0
