"""``reactor doctor``: what this machine can do for a model, line by line, and what to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reactor_runtime.cli.setting_flags import texts_of, with_setting_flags

if TYPE_CHECKING:
    from reactor_runtime.cli.machine_checks import Finding
    from reactor_runtime.settings import ServeSettings

_NO_MODEL = "model:Model"  # a reference that is never imported: the defaults are looked at


@with_setting_flags
def doctor(
    target: Annotated[
        str | None,
        typer.Argument(help="A folder or reactor.yaml whose settings count; none needed."),
    ] = None,
    **flags: Any,
) -> int:
    """Look at this machine: every line says ok, or what to do.

    Ends with status 1 when something must be cured before a model can be served well.
    """
    from rich.console import Console

    from reactor_runtime.cli.machine_checks import CHECKS

    settings = _settings(target, flags)
    console = Console(highlight=False, soft_wrap=True)
    findings: list[Finding] = []
    for check in CHECKS:
        for finding in check(settings):
            findings.append(finding)
            console.print(_mark(finding), end=" ")
            console.print(_line(finding), markup=False)
    problems = sum(finding.is_problem for finding in findings)
    if problems:
        console.print(f"{problems} thing{'s' if problems > 1 else ''} to do", markup=False)
    return 1 if problems else 0


def _settings(target: str | None, flags: dict[str, Any]) -> "ServeSettings":
    from reactor_runtime.settings import resolve_settings

    has_manifest = Path("reactor.yaml").is_file() or Path("reactor.yml").is_file()
    chosen = target or ("." if has_manifest else _NO_MODEL)
    return resolve_settings(chosen, texts_of(flags)).settings


def _mark(finding: "Finding") -> str:
    if finding.is_problem:
        return "[bold red]to do [/bold red]"
    return "[yellow]advice[/yellow]" if finding.cure else "[green]ok    [/green]"


def _line(finding: "Finding") -> str:
    cure = f"; {finding.cure}" if finding.cure else ""
    return f"{finding.subject.ljust(15)} {finding.text}{cure}"
