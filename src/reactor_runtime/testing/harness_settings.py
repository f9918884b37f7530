"""The settings of a model under test: those of ``reactor serve``, with defaults that suit tests."""

import difflib
from dataclasses import replace
from pathlib import Path
from typing import Any

from reactor_runtime.setting_table import SETTINGS
from reactor_runtime.settings import ServeSettings, resolve_settings

MODEL_SETTINGS = {
    setting.label: setting.name
    for setting in SETTINGS
    if setting.group in ("Model", "Time limits") or setting.name == "max_fps"
}


def harness_settings(
    model_class: type[Any], world_size: int, config: str | Path | None, given: dict[str, Any]
) -> ServeSettings:
    """Return the settings for *model_class*; nothing of this machine's environment counts.

    Ranks join no process group and run on the CPU unless *given* says otherwise.

    Raises:
        TypeError: *model_class* is no class; a name in *given* is no setting, or none of a model's.
        SettingError: A value is wrong, alone or beside the others.
    """
    if not isinstance(model_class, type):
        raise TypeError(f"the model under test is a class, not {model_class!r}")
    known = MODEL_SETTINGS
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are: {', '.join(known)}"
            raise TypeError(f"a model under test has no setting {name!r}{hint}")
    chosen = {"device": "cpu", "init_process_group": False, **given, "world_size": world_size}
    if world_size == 1 and chosen.get("isolation") != "process":
        # A step in this process is bounded by the clock, which stands still while it runs.
        chosen |= {"turn_timeout": 0, "first_turn_timeout": 0}
    flags = {known[name]: _text(value) for name, value in chosen.items() if value is not None}
    settings = resolve_settings("model:Model", flags=flags, environ={}).settings
    return replace(
        settings,
        model_ref=f"{model_class.__module__}:{model_class.__qualname__}",
        config_path=None if config is None else Path(config).absolute(),
    )


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
