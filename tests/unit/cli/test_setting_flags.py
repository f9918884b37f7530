import inspect
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from reactor_runtime.cli.setting_flags import arguments_of, texts_of, with_setting_flags
from reactor_runtime.setting_table import SETTINGS
from reactor_runtime.settings import ServeSettings, resolve_settings


def parse(*arguments: str) -> dict[str, Any]:
    """What a command with the flags is called with."""
    seen: dict[str, Any] = {}

    @with_setting_flags
    def command(target: str = ".", **flags: Any) -> int:
        seen.update(flags)
        return 0

    app = typer.Typer(add_completion=False)
    app.command()(command)
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return seen


def settings_of(*arguments: str) -> ServeSettings:
    return resolve_settings("m:M", texts_of(parse(*arguments)), {}).settings


def test_every_setting_has_a_flag_with_help() -> None:
    @with_setting_flags
    def command(**flags: Any) -> int:
        return 0

    parameters = inspect.signature(command).parameters
    assert [each for each in parameters if not each.startswith("no_")] == [
        setting.name for setting in SETTINGS
    ]
    assert all(setting.about.endswith(".") for setting in SETTINGS)


def test_a_flag_that_is_not_given_is_no_text() -> None:
    assert set(texts_of(parse()).values()) == {None}
    assert settings_of() == resolve_settings("m:M", {}, {}).settings


def test_flags_become_settings() -> None:
    settings = settings_of(
        "--port", "99", "--token=t", "--check-lockstep", "--no-init-process-group",
        "--stun", "stun:a:1", "--stun", "stun:b:2", "--turn-timeout", "3", "--max-resolution=64x48",
    )  # fmt: skip
    assert (settings.port, settings.token) == (99, "t")
    assert (settings.check_lockstep, settings.init_process_group) == (True, False)
    assert settings.stun == ("stun:a:1", "stun:b:2")
    assert (settings.turn_timeout_s, str(settings.max_resolution)) == (3.0, "64x48")


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["--port=99", "--token=a-b", "--allow-host=x", "--allow-host=y"],
        ["--check-lockstep", "--no-oversubscribe", "--turn=turn:u:-p@h"],
    ],
)
def test_the_command_line_can_be_given_again(given: list[str]) -> None:
    again = arguments_of(parse(*given))
    assert sorted(again) == sorted(given)
    assert settings_of(*again) == settings_of(*given)
