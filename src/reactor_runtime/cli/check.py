"""``reactor check``: the settings in force, where each came from, and the model's contract."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reactor_runtime import setting_kinds as kinds
from reactor_runtime.cli.setting_flags import texts_of, with_setting_flags
from reactor_runtime.paths import WEIGHTS_VARIABLE
from reactor_runtime.setting import Setting
from reactor_runtime.setting_table import SETTINGS

if TYPE_CHECKING:
    from rich.console import Console

    from reactor_runtime.model.contract import ModelContract
    from reactor_runtime.settings import EffectiveSettings, ServeSettings


@with_setting_flags
def check(
    target: Annotated[
        str, typer.Argument(help="A folder with a reactor.yaml, a reactor.yaml, or module:Class.")
    ] = ".",
    **flags: Any,
) -> int:
    """Print the settings that serve would use, and the model's contract, without loading it.

    Takes the same flags as serve. Ends with status 2 at the first mistake.
    """
    from rich.console import Console

    from reactor_runtime.settings import resolve_settings

    effective = resolve_settings(target, texts_of(flags))
    console = Console(highlight=False, soft_wrap=True)
    _print_model(console, effective)
    _print_settings(console, effective)

    from reactor_runtime.cli.contract_text import contract_lines
    from reactor_runtime.schema import read_model

    model, contract = read_model(effective.settings)
    console.print("\n[bold]Contract[/bold]")
    _print_rows(console, contract_lines(contract))
    _print_verdict(console, effective.settings, model, contract)
    return 0


def _check_ranks(settings: "ServeSettings") -> None:
    """Refuse ranks that this machine cannot start, as serve would.

    Raises:
        WorkerGroupRefusedError: It has the numbers and the cure.
    """
    from reactor_runtime.distributed.group_start import this_machine
    from reactor_runtime.distributed.worker_plan import Wish, make_worker_plan

    wish = Wish(
        world_size=settings.world_size,
        device=settings.device,
        backend=settings.comm_backend,
        init_process_group=settings.init_process_group,
        oversubscribe=settings.oversubscribe,
    )
    make_worker_plan(wish, this_machine(), os.environ)


def _print_verdict(
    console: "Console", settings: "ServeSettings", model: type, contract: "ModelContract"
) -> None:
    from reactor_runtime.errors import ModelImportError
    from reactor_runtime.model.servable import check_servable, doubts
    from reactor_runtime.recording.recorded_tracks import recorded_tracks
    from reactor_runtime.settings import check_device, manifest_doubts

    try:
        check_servable(model)
    except TypeError as error:
        raise ModelImportError(settings.model_ref, str(error)) from error
    if settings.isolation == "process":
        _check_ranks(settings)
    check_device(settings)
    if settings.is_recorded:
        recorded_tracks(contract.tracks, settings.recording)
    console.print()
    for doubt in (*manifest_doubts(settings, os.environ), *doubts(model)):
        console.print("[yellow]look[/yellow]  ", end="")
        console.print(doubt, markup=False)
    console.print("[green]ok[/green]  the class can be imported and its declarations make sense")


def _print_model(console: "Console", effective: "EffectiveSettings") -> None:
    settings = effective.settings
    rows = [
        ("model", settings.model_ref),
        ("name", settings.name or settings.model_ref.rpartition(":")[2].rpartition(".")[2]),
        ("version", settings.version or "not given"),
        ("manifest", str(settings.manifest_path or "none")),
        ("config", str(settings.config_path or "none")),
        ("weights", os.environ.get(WEIGHTS_VARIABLE) or str(settings.weights_path or "./weights")),
        ("env", ", ".join(sorted(settings.env)) or "none"),
        ("recording", _recording(settings)),
        ("ignored", ", ".join(effective.ignored) or "none"),
    ]
    console.print("[bold]Model[/bold]")
    _print_rows(console, rows)


def _recording(settings: "ServeSettings") -> str:
    """Return whether sessions are recorded, and what the manifest says of how."""
    if not settings.is_recorded:
        return "off"
    given = settings.recording.model_dump(exclude_none=True, exclude={"enabled"})
    parts = [(name, value) for name, value in given.items() if not isinstance(value, dict)]
    for section in ("video", "audio"):
        parts += [(f"{section}.{name}", value) for name, value in given[section].items()]
    return ", ".join(["on", *(f"{name} {value}" for name, value in parts)])


def _print_settings(console: "Console", effective: "EffectiveSettings") -> None:
    console.print("\n[bold]Settings[/bold]")
    values = {s.name: shown(s, getattr(effective.settings, s.name)) for s in SETTINGS}
    width = max(len(text) for text in values.values() if len(text) <= 32)
    for setting in SETTINGS:
        origin = effective.origins[setting.name]
        console.print(f"  {setting.label.ljust(_LABEL)} ", end="")
        console.print(values[setting.name].ljust(width), markup=False, end="  ")
        console.print(origin, style="dim" if origin == "default" else "cyan")


_LABEL = 20


def _print_rows(console: "Console", rows: Iterable[tuple[str, str]]) -> None:
    for label, text in rows:
        console.print(f"  {label.ljust(_LABEL)} ", end="")
        console.print(text, markup=False)


def shown(setting: Setting, value: Any) -> str:
    """Return *value* for people: units, no secret, no empty brackets.

    What is a number is shown as text that the setting would read as the same number.
    """
    if setting.is_secret:
        return "set (not shown)" if value else "none"
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _number(setting, value)
    if isinstance(value, tuple):
        is_range = setting.kind is kinds.PORT_RANGE
        return ("-" if is_range else ", ").join(str(item) for item in value)
    return str(value)


def _number(setting: Setting, value: float) -> str:
    if setting.name.endswith("_s"):
        return f"{value:.12g} s" if value else "0 (no bound)"
    if setting.kind is kinds.BITRATE:
        return f"{value / 1e6:.12g} Mbit/s"
    if setting.kind is kinds.BYTES:
        return kinds.bytes_text(int(value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)
