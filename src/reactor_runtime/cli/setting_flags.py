"""One flag for every setting, made from the table of settings."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from reactor_runtime.setting import Setting
from reactor_runtime.setting_kinds import BITRATE, BYTES, SWITCH
from reactor_runtime.setting_table import SETTINGS

_OFF = "no_"  # before the name of a switch


def with_setting_flags(command: Callable[..., int]) -> Callable[..., int]:
    """Give *command*, whose last parameter is ``**flags``, a flag for every setting."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    flags = [each for setting in SETTINGS for each in _parameters(setting)]
    command.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    return command


def texts_of(flags: Mapping[str, Any]) -> dict[str, str | None]:
    """Return each flag's text as if it had been an environment variable, ``None`` if not given."""
    return {name: _text(value) for name, value in _joined(flags).items()}


def arguments_of(flags: Mapping[str, Any]) -> list[str]:
    """Return the command line that gives *flags* again."""
    arguments: list[str] = []
    flags = _joined(flags)
    for setting in SETTINGS:
        value = flags.get(setting.name)
        if isinstance(value, bool):
            arguments.append(setting.flag if value else setting.off_flag)
        elif isinstance(value, list | tuple):
            arguments.extend(f"{setting.flag}={item}" for item in value)
        elif value is not None:
            arguments.append(f"{setting.flag}={value}")
    return arguments


def _text(value: Any) -> str | None:
    if value is None or value in ([], ()):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _joined(flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return *flags* with each switch that was turned off under its own name."""
    off = [name for name in flags if name.startswith(_OFF)]
    joined = {name: value for name, value in flags.items() if name not in off}
    joined.update({name.removeprefix(_OFF): False for name in off if flags[name]})
    return joined


def _parameters(setting: Setting) -> list[inspect.Parameter]:
    """Return the flag of *setting*; a switch has two, of which help shows one."""
    shown = _parameter(setting)
    if setting.kind is not SWITCH:
        return [shown]
    off = typer.Option(setting.off_flag, hidden=True)
    return [
        shown,
        shown.replace(name=f"{_OFF}{setting.name}", annotation=Annotated[bool | None, off]),
    ]


def _parameter(setting: Setting) -> inspect.Parameter:
    option = typer.Option(
        setting.flag,
        help=f"{setting.about}{_choices_of(setting)}{_default_of(setting)}",
        metavar=None if setting.kind is SWITCH else setting.kind.placeholder,
        rich_help_panel=setting.group,
        show_default=False,
    )
    kind: Any = str
    if setting.is_many:
        kind = list[str]
    elif setting.kind is SWITCH:
        kind = bool
    return inspect.Parameter(
        setting.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )


def _choices_of(setting: Setting) -> str:
    if setting.kind is SWITCH:
        return f" Off: {setting.off_flag}."
    wanted = setting.kind.wanted
    return f" {wanted.capitalize()}." if setting.kind.placeholder == "WORD" else ""


def _default_of(setting: Setting) -> str:
    if setting.computed is not None or setting.default in (None, (), True, False):
        return ""
    if setting.kind is BITRATE:
        return f" Default {setting.default / 1e6:g}M."
    if setting.kind is BYTES:
        return f" Default {setting.default >> 20}M."
    is_real = isinstance(setting.default, float)
    return f" Default {f'{setting.default:g}' if is_real else setting.default}."
