"""What ``reactor check`` prints of a setting may be written into a manifest."""

from typing import Any

import pytest

from reactor_runtime.cli.check import shown
from reactor_runtime.setting_kinds import Resolution
from reactor_runtime.setting_table import SETTINGS

VALUES: list[tuple[str, Any]] = [
    *(
        (setting.name, setting.default)
        for setting in SETTINGS
        if type(setting.default) in (int, float)
    ),
    ("turn_timeout_s", 0.25),
    ("load_timeout_s", 1234567.0),
    ("max_fps", 59.94005994),
    ("max_upload", 1_500_000),
    ("max_upload", 256 << 20),
    ("max_upload", 0),
    ("bitrate", 3_123_457),
    ("max_resolution", Resolution(width=1280, height=720)),
    ("port_range", (50000, 50100)),
    ("check_lockstep", True),
]


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_what_is_shown_is_read_as_the_same(name: str, value: object) -> None:
    (setting,) = [each for each in SETTINGS if each.name == name]
    assert setting.kind.parse(shown(setting, value).removesuffix(" (no bound)")) == value
