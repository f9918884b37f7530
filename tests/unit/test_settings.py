"""Settings: flag beats environment beats manifest beats default, and each value says which."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from reactor_runtime import devices
from reactor_runtime.errors import ConfigurationError, ManifestError, SettingError
from reactor_runtime.setting_kinds import Resolution, TurnServer
from reactor_runtime.setting_table import SETTINGS, misspelt_variables
from reactor_runtime.settings import (
    EffectiveSettings,
    ServeSettings,
    import_served_class,
    resolve_settings,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "reactor.yaml").write_text(
        "model: {name: x, version: 1.0}\n"
        "runtime:\n  import: model:M\n  port: 7001\n  world_size: 2\n  turn_timeout: 5\n"
    )
    return tmp_path


def resolved(folder: Path, *, env: dict[str, str] | None = None, **flags: str) -> EffectiveSettings:
    return resolve_settings(folder, flags, env or {})


def test_a_flag_beats_the_environment_beats_the_manifest_beats_the_default(folder: Path) -> None:
    variables = {"REACTOR_PORT": "7002", "REACTOR_HOST": "0.0.0.0"}
    cases: list[tuple[dict[str, str], dict[str, str], int, str]] = [
        ({}, {"port": "7003"}, 7003, "flag --port"),
        (variables, {"port": "7003"}, 7003, "flag --port"),
        (variables, {}, 7002, "environment REACTOR_PORT"),
        ({}, {}, 7001, "reactor.yaml line 4"),
    ]
    for env, flags, port, origin in cases:
        effective = resolved(folder, env=env, **flags)
        assert effective.settings.port == port
        assert effective.origins["port"] == origin
    assert resolved(folder).origins["host"] == "default"
    assert resolved(folder, env=variables).settings.host == "0.0.0.0"


def test_world_size_is_the_deployments_word(folder: Path) -> None:
    assert resolved(folder).settings.world_size == 2
    assert resolved(folder, world_size="4").settings.world_size == 4


def test_the_default_device_is_one_that_the_model_will_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "_cuda_device_files", lambda: 2)
    monkeypatch.setattr(devices, "torch_cuda_version", lambda: "13.0")
    runtime = "runtime: {import: 'm:M', env: {CUDA_VISIBLE_DEVICES: '%s'}}\n"
    for shown, device in (("1", "cuda:0"), ("", "cpu")):
        (tmp_path / "reactor.yaml").write_text(runtime % shown)
        assert resolved(tmp_path).settings.device == device
    seen = {"CUDA_VISIBLE_DEVICES": "0"}  # the environment beats the manifest
    assert resolved(tmp_path, env=seen).settings.device == "cuda:0"


def test_an_empty_variable_is_no_value(folder: Path) -> None:
    effective = resolved(folder, env={"REACTOR_PORT": "", "REACTOR_TOKEN": " "})
    assert effective.settings.port == 7001
    assert effective.settings.token is None


def test_every_setting_has_an_origin_and_a_field(folder: Path) -> None:
    effective = resolved(folder)
    names = {setting.name for setting in SETTINGS}
    assert set(effective.origins) == names
    assert names <= {field.name for field in dataclasses.fields(ServeSettings)}


def test_the_defaults_of_the_table_are_those_of_the_value() -> None:
    effective = resolve_settings("model:M", {}, {}).settings
    bare = ServeSettings(model_ref="model:M", folder=Path.cwd(), device=effective.device)
    assert effective == bare


def test_a_class_reference_needs_no_manifest(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    settings = resolve_settings("pkg.model:M", {}, {}).settings
    assert (settings.model_ref, settings.folder) == ("pkg.model:M", tmp_path)
    assert settings.manifest_path is None


def test_paths_are_resolved_against_the_manifest(folder: Path) -> None:
    manifest = folder / "reactor.yaml"
    manifest.write_text("runtime: {import: 'm:M', config: c.yaml, weights_path: w}\n")
    (folder / "c.yaml").touch()
    settings = resolved(folder).settings
    assert settings.config_path == folder / "c.yaml"
    assert settings.weights_path == folder / "w"
    assert settings.manifest_path == manifest


def test_a_config_that_is_not_there_is_an_error(folder: Path) -> None:
    (folder / "reactor.yaml").write_text("runtime:\n  import: m:M\n  config: gone.yaml\n")
    with pytest.raises(ManifestError) as caught:
        resolved(folder)
    assert (caught.value.key, caught.value.line) == ("runtime.config", 3)
    assert "gone.yaml" in caught.value.found


VALUES: dict[str, tuple[str, Any]] = {
    "allow_origin": ("https://a.example/, http://b:3000", ("https://a.example", "http://b:3000")),
    "allow_host": ("a.example,b.example", ("a.example", "b.example")),
    "stun": ("stun:a:3478", ("stun:a:3478",)),
    "turn": (
        "turn:12%3Au:p/+%2C@=@h:3478?transport=tcp, turns:[2001:db8::1]",
        (
            TurnServer(uri="turn:h:3478?transport=tcp", username="12:u", credential="p/+,@="),
            TurnServer(uri="turns:[2001:db8::1]"),
        ),
    ),
    "port_range": ("50000-50100", (50000, 50100)),
    "public_address": ("203.0.113.7", "203.0.113.7"),
    "max_resolution": ("1280X720", Resolution(width=1280, height=720)),
    "bitrate": ("2.5M", 2_500_000),
    "max_upload": ("1.5G", 3 << 29),
    "max_session_uploads": ("64 MiB", 64 << 20),
    "min_free_disk": ("0", 0),
    "max_picture_pixels": ("1000000", 1_000_000),
    "uploads_path": ("/var/files", Path("/var/files")),
    "init_process_group": ("off", False),
    "stop_grace_s": ("0", 0.0),
    "log_level": ("debug", "debug"),
    "record": ("yes", True),
    "recordings_size": ("2G", 2 << 30),
    "recordings_keep_s": ("60", 60.0),
    "recordings_path": ("/srv/films", Path("/srv/films")),
}


@pytest.mark.parametrize("name", VALUES)
def test_text_becomes_the_right_value(name: str) -> None:
    text, value = VALUES[name]
    assert getattr(resolve_settings("m:M", {name: text}, {}).settings, name) == value


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("port", "80a", "whole number"),
        ("port", "-1", "0 to 65535"),
        ("port", "9" * 30, "whole number"),
        ("host", "a b", "host name"),
        ("token", "a b", "without spaces"),
        ("allow_origin", "a.example", "origin"),
        ("stun", "a:3478", "stun:"),
        ("turn", "turn:u@h", "turn:user:credential@host"),
        ("stun", "stun:h:99999", "stun:"),
        ("stun", "turn:h", "stun:"),
        ("turn", "turn:user:pa55word", "turn:user:credential@host"),
        ("turn", "turn:user:pa55word@host:port", "turn:user:credential@host"),
        ("turn", "turn:h?transport=sctp", "turn:user:credential@host"),
        ("turn", "turns:h?transport=udp", "turns: for TLS over TCP"),
        ("port_range", "6-5", "range of ports"),
        ("public_address", "host.example", "IP address"),
        ("max_fps", "nan", "frames per second"),
        ("turn_timeout_s", "1m", "number of seconds"),
        ("check_lockstep", "maybe", "true or false"),
        ("log_level", "loud", "debug, info"),
        ("log_format", "xml", "text, json"),
        ("bitrate", "0", "bits per second"),
        ("max_upload", "1 apple", "256M"),
        ("max_upload", "-1M", "256M"),
        ("max_picture_pixels", "0", "at least 1"),
        ("recordings_size", "much", "256M"),
        ("record", "4", "true or false"),
    ],
)
def test_a_wrong_value_names_its_source_and_what_is_wanted(
    name: str, text: str, wanted: str
) -> None:
    setting = next(each for each in SETTINGS if each.name == name)
    for flags, env, source in (
        ({name: text}, {}, setting.flag),
        ({}, {setting.variable: text}, setting.variable),
    ):
        with pytest.raises(SettingError) as caught:
            resolve_settings("m:M", flags, env)
        assert caught.value.source == source
        assert wanted in caught.value.wanted
        assert "pa55word" not in str(caught.value)


def test_a_session_may_send_at_least_one_largest_file() -> None:
    for given, wanted in (("1M", 1 << 30), ("4G", 4 << 30)):
        assert resolve_settings("m:M", {"max_upload": given}, {}).settings.max_session_uploads == (
            wanted
        )


def test_no_secret_is_shown(folder: Path) -> None:
    turn = "turn:user:s3cr3t@h"
    effective = resolved(folder, token="t0k3n", turn=turn)
    assert "t0k3n" not in repr(effective)
    assert "s3cr3t" not in repr(effective) + str(effective.settings.turn[0])
    assert effective.settings.token == "t0k3n"
    for flags in ({"token": "t0k3n with space"}, {"turn": f"{turn} {turn}"}):
        with pytest.raises(SettingError) as caught:
            resolve_settings(folder, flags, {})
        assert "t0k3n" not in str(caught.value)
        assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("flags", "culprit"),
    [
        ({"world_size": "2", "isolation": "in_process"}, "isolation"),
        ({"world_size": "2", "workers": "2"}, "workers"),
        ({"world_size": "2", "device": "cuda:0"}, "device"),
        ({"isolation": "process", "on_failure": "keep"}, "on_failure"),
        ({"on_failure": "restart"}, "on_failure"),
        ({"comm_backend": "nccl", "device": "cpu"}, "comm_backend"),
        ({"max_bitrate": "1M", "bitrate": "2M"}, "bitrate"),
    ],
)
def test_values_that_do_not_go_together_are_an_error(flags: dict[str, str], culprit: str) -> None:
    with pytest.raises(SettingError) as caught:
        resolve_settings("m:M", flags, {})
    assert caught.value.source.startswith(culprit)


def test_cuda_is_the_first_device_of_one_and_each_ranks_own_of_several() -> None:
    one = resolve_settings("m:M", {"device": "cuda"}, {}).settings
    many = resolve_settings("m:M", {"device": "cuda", "world_size": "2"}, {}).settings
    assert (one.device, many.device) == ("cuda:0", "cuda")


def test_seconds_may_have_their_unit() -> None:
    for text in ("30s", "30 s", "30"):
        assert resolve_settings("m:M", {"turn_timeout_s": text}, {}).settings.turn_timeout_s == 30


def test_defaults_follow_from_other_settings() -> None:
    one = resolve_settings("m:M", {}, {}).settings
    assert (one.isolation, one.on_failure) == ("in_process", "keep")
    many = resolve_settings("m:M", {"world_size": "2"}, {}).settings
    assert (many.isolation, many.on_failure) == ("process", "exit")
    assert resolve_settings("m:M", {"isolation": "process"}, {}).settings.on_failure == "exit"
    assert resolve_settings("m:M", {"load_timeout_s": "10"}, {}).settings.comm_timeout_s == 630.0
    assert resolve_settings("m:M", {"load_timeout_s": "0"}, {}).settings.comm_timeout_s == 0.0
    assert resolve_settings("m:M", {"max_bitrate": "1M"}, {}).settings.bitrate == 1_000_000


@pytest.mark.parametrize("target", ["nowhere", "a/b", "a:b:c", "x.yaml", "a.b", ":", ""])
def test_a_target_that_is_nothing_is_one_line(
    target: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        resolve_settings(target, {}, {})
    assert "\n" not in str(caught.value)


def test_the_manifests_variables_are_set_where_the_environment_has_none(
    folder: Path, monkeypatch: Any
) -> None:
    (folder / "reactor.yaml").write_text(
        "runtime: {import: 'variables_model:M', weights_path: w, env: {SET_ONE: a, SET_TWO: b}}\n"
    )
    (folder / "variables_model.py").write_text(
        "import os\nfrom reactor_runtime import ReactorModel\n"
        "class M(ReactorModel):\n"
        "    seen = {k: os.environ.get(k) for k in ('SET_ONE', 'SET_TWO')}\n"
    )
    for name in ("SET_ONE", "REACTOR_WEIGHTS_PATH"):
        monkeypatch.setenv(name, "")  # so that monkeypatch removes what is set below
        monkeypatch.delenv(name)
    monkeypatch.setenv("SET_TWO", "mine")
    monkeypatch.setattr("sys.path", [*sys.path])
    model = import_served_class(resolved(folder).settings)
    assert model.seen == {"SET_ONE": "a", "SET_TWO": "mine"}

    from reactor_runtime.paths import get_weights_path

    assert get_weights_path("x.bin") == folder / "w" / "x.bin"


@pytest.mark.parametrize(
    ("in_manifest", "flag", "is_recorded"),
    [
        (None, None, False),
        ("true", None, True),
        ("false", None, False),
        ("true", "false", False),
        (None, "true", True),
    ],
)
def test_the_deployment_has_the_last_word_on_recording(
    tmp_path: Path, in_manifest: str | None, flag: str | None, is_recorded: bool
) -> None:
    section = f"  recording: {{enabled: {in_manifest}}}\n" if in_manifest else ""
    (tmp_path / "reactor.yaml").write_text(f"runtime:\n  import: a:B\n{section}")
    settings = resolve_settings(tmp_path, {"record": flag}, {}).settings
    assert settings.is_recorded is is_recorded


def test_a_variable_that_is_nearly_one_of_ours_is_found() -> None:
    names = [
        "REACTOR_PROT",
        "REACTOR_PORT",
        "REACTOR_WORKERS",
        "REACTOR_LOGLEVEL",
        "REACTOR_X",
        "A",
    ]
    assert list(misspelt_variables(names)) == [
        ("REACTOR_LOGLEVEL", "REACTOR_LOG_LEVEL"),
        ("REACTOR_PROT", "REACTOR_PORT"),
    ]
