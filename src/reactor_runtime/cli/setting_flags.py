"""One flag for every setting, made from the table of settings."""

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from reactor_runtime.setting import Setting
from reactor_runtime.setting_kinds import BITRATE, BYTES, SWITCH
from reactor_runtime.setting_table import SETTINGS


def with_setting_flags(command: Callable[..., int]) -> Callable[..., int]:
    """Give *command*, whose last parameter is ``**flags``, a flag for every setting."""
    signature = inspect.signature(command, eval_str=True)
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    flags = [_parameter(setting) for setting in SETTINGS]
    command.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    return command


def texts_of(flags: Mapping[str, Any]) -> dict[str, str | None]:
    """Return each flag's text as if it had been an environment variable, ``None`` if not given."""
    return {name: _text(value) for name, value in flags.items()}


def arguments_of(flags: Mapping[str, Any]) -> list[str]:
    """Return the command line that gives *flags* again."""
    arguments: list[str] = []
    for setting in SETTINGS:
        value = flags.get(setting.name)
        if isinstance(value, bool):
            arguments.append(setting.flag if value else f"--no-{setting.flag[2:]}")
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


def _parameter(setting: Setting) -> inspect.Parameter:
    option = typer.Option(
        *_names(setting),
        help=f"{setting.about}{_default_of(setting)}",
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


def _names(setting: Setting) -> tuple[str, ...]:
    return (f"{setting.flag}/--no-{setting.flag[2:]}" if setting.kind is SWITCH else setting.flag,)


def _default_of(setting: Setting) -> str:
    if setting.computed is not None or setting.default in (None, (), True, False):
        return ""
    if setting.kind is BITRATE:
        return f" Default {setting.default / 1e6:g}M."
    if setting.kind is BYTES:
        return f" Default {setting.default >> 20}M."
    is_real = isinstance(setting.default, float)
    return f" Default {f'{setting.default:g}' if is_real else setting.default}."
