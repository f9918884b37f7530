"""``reactor docs [PAGE]``: the documentation of this very version, where it was installed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from reactor_runtime.errors import SettingError

_PACKAGE = Path(__file__).parents[1]
_DECISIONS = "decisions"  # a folder of short pages, which is printed as one
# In a wheel the pages lie in the package; in a checkout beside its source.
_FOLDERS = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")


def docs(
    page: Annotated[
        str | None, typer.Argument(help="Its name, such as first-model; none lists them all.")
    ] = None,
) -> int:
    """Print a page of the documentation, or what pages there are."""
    folder = _folder()
    pages = _pages(folder)
    decisions = _pages(folder / _DECISIONS)
    names = sorted([*pages, _DECISIONS])
    if page is None:
        width = max(map(len, names))
        for name in names:
            title = _title(pages[name]) if name in pages else "Why it is so"
            typer.echo(f"{name.ljust(width)}  {title}")
        typer.echo("\nreactor docs PAGE prints one of them.")
        return 0
    chosen = Path(page).stem
    if chosen == _DECISIONS:
        _print("\n".join(map(_text, decisions.values())))
        return 0
    path = pages.get(chosen) or decisions.get(chosen)
    if path is None:
        raise SettingError("PAGE", repr(page[:60]), f"one of {', '.join(names)}")
    _print(_text(path))
    return 0


def _folder() -> Path:
    for folder in _FOLDERS:
        if any(folder.glob("*.md")):
            return folder
    raise SettingError("PAGE", "no pages beside the package", "an installation that is whole")


def _pages(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("*.md"))}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


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
