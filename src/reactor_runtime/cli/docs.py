"""``reactor docs [PAGE]``: the documentation of this very version, where it was installed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from reactor_runtime.errors import SettingError

_PACKAGE = Path(__file__).parents[1]
# In a wheel the pages lie in the package; in a checkout beside its source.
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


def docs(
    page: Annotated[
        str | None, typer.Argument(help="Its name, such as first-model; none lists them all.")
    ] = None,
) -> int:
    """Print a page of the documentation, or what pages there are."""
    pages = _pages()
    if page is None:
        width = max(map(len, pages))
        for name, path in pages.items():
            typer.echo(f"{name.ljust(width)}  {_title(path)}")
        typer.echo("\nreactor docs PAGE prints one of them.")
        return 0
    chosen = pages.get(Path(page).stem)
    if chosen is None:
        raise SettingError("PAGE", repr(page[:60]), f"one of {', '.join(pages)}")
    _print(chosen.read_text(encoding="utf-8"))
    return 0


def _pages() -> dict[str, Path]:
    for folder in _FOLDERS:
        if found := sorted(folder.glob("*.md")):
            return {path.stem: path for path in found}
    raise SettingError("PAGE", "no pages beside the package", "an installation that is whole")


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next(lines).lstrip("# ").strip()


def _print(text: str) -> None:
    """Print Markdown, laid out where a person reads it."""
    if not sys.stdout.isatty():
        typer.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
