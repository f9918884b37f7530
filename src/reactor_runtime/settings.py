"""ServeSettings: everything a deployment decides, resolved once, with where each value came from.

A flag beats an environment variable, which beats the manifest, which beats the default.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reactor_runtime.devices import usable_cuda_devices
from reactor_runtime.errors import ManifestError, ModelImportError, SettingError
from reactor_runtime.manifest import Manifest, Recording, load_config
from reactor_runtime.manifest_file import locate
from reactor_runtime.model_import import import_model_class, parse_model_ref
from reactor_runtime.paths import WEIGHTS_VARIABLE
from reactor_runtime.setting import MODEL_ENVIRON, Setting
from reactor_runtime.setting_kinds import Resolution, TurnServer
from reactor_runtime.setting_table import SETTINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """What ``serve`` is told; every value is already right on its own and beside the others.

    Attributes:
        model_ref: The class, as ``module:Class``.
        folder: Where its sibling modules lie, absolute.
        manifest_path: The manifest, ``None`` when a class was given instead.
        config_path: The author's config, absolute, handed to ``load``.
        weights_path: Where weights lie, absolute.
        name: ``model.name``; ``None`` for the class name.
        version: ``model.version``.
        description: ``model.description``.
        env: Environment variables to set before the author's module is imported.
        recording: The manifest's ``recording``.
        unknown_keys: Keys under ``runtime`` that nothing reads.
        host: Address to bind.
        port: TCP port, 0 for any free one.
        token: What callers must present; ``None`` when nobody must.
        allow_origin: Origins allowed beside the server's own and loopback.
        allow_host: ``Host`` names allowed beside loopback, literals and the bind name.
        stun: STUN addresses.
        turn: TURN servers.
        public_address: IP address this host is also reached by.
        port_range: First and last UDP port for media; ``None`` for any.
        max_connections: Viewers at once.
        log_format: ``text`` or ``json``.
        log_level: The least important lines written.
        world_size: Ranks that run the model in lockstep.
        isolation: ``in_process`` or ``process``.
        workers: Processes of a ``WorkerGroup`` the author builds; ``None`` for one per device.
        device: ``cpu``, ``cuda`` (at world_size > 1) or ``cuda:<n>`` (at world_size 1).
        comm_backend: ``gloo``, ``nccl``, or ``None`` for what suits the device.
        init_process_group: Whether ranks join a process group.
        on_failure: ``keep``, ``exit`` or ``restart``.
        check_lockstep: Compare a digest of every rank after every turn.
        oversubscribe: Allow more ranks than devices.
        turn_timeout_s: Seconds one turn may take; 0 for no bound, as for all of these.
        first_turn_timeout_s: Seconds the first turn may take (compilation).
        load_timeout_s: Seconds construction, load and warm-up may take.
        settle_timeout_s: Seconds all ranks have to report after one failed.
        comm_timeout_s: Seconds a collective may wait.
        orphan_timeout_s: Seconds a session lives without a viewer.
        connect_timeout_s: Seconds a connection has to come up.
        stop_grace_s: Seconds from the stop signal to the end of the process.
        bitrate: Bits per second of video at 1280x720 and 24 fps.
        max_bitrate: Bits per second no video track exceeds.
        max_fps: Frames per second video is shown at, at most.
        max_resolution: Size larger pictures are scaled down to, ``None`` for no limit.
        playout_delay: ``low`` asks viewers to show at once, ``client`` leaves it to them,
            ``auto`` is ``low`` on loopback and local networks.
        max_upload: Bytes of the largest file a client may send.
        max_session_uploads: Bytes of all files of one session together.
        max_picture_pixels: Width times height of the largest picture file.
        min_free_disk: Bytes that files and recordings must leave free on the disk.
        uploads_path: Where files are kept, ``None`` for the folder of temporary files.
        record: Whether sessions are recorded; ``None`` for what *recording* says.
        step_results: Whether the result of every step is kept.
        recordings_path: Where recordings lie while the process lives, ``None`` for the folder of
            temporary files.
        recordings_size: Bytes of all recordings.
        recordings_keep_s: Seconds a recording is kept after its session has ended.
        open_browser: Open the page once it can be reached.
    """

    model_ref: str
    folder: Path
    manifest_path: Path | None = None
    config_path: Path | None = None
    weights_path: Path | None = None
    name: str | None = None
    version: str | None = None
    description: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    recording: Recording = field(default_factory=Recording)
    unknown_keys: tuple[str, ...] = ()

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = field(default=None, repr=False)
    allow_origin: tuple[str, ...] = ()
    allow_host: tuple[str, ...] = ()
    stun: tuple[str, ...] = ()
    turn: tuple[TurnServer, ...] = ()
    public_address: str | None = None
    port_range: tuple[int, int] | None = None
    max_connections: int = 64
    log_format: str = "text"
    log_level: str = "info"

    world_size: int = 1
    isolation: str = "in_process"
    workers: int | None = None
    device: str = "cpu"
    comm_backend: str | None = None
    init_process_group: bool = False
    on_failure: str = "keep"
    check_lockstep: bool = False
    oversubscribe: bool = False

    turn_timeout_s: float = 60.0
    first_turn_timeout_s: float = 600.0
    load_timeout_s: float = 1800.0
    settle_timeout_s: float = 5.0
    comm_timeout_s: float = 1830.0
    orphan_timeout_s: float = 60.0
    connect_timeout_s: float = 30.0
    stop_grace_s: float = 10.0

    bitrate: int = 3_500_000
    max_bitrate: int = 8_000_000
    max_fps: float = 60.0
    max_resolution: Resolution | None = None
    playout_delay: str = "auto"

    max_upload: int = 256 << 20
    max_session_uploads: int = 1 << 30
    max_picture_pixels: int = 100_000_000
    min_free_disk: int = 512 << 20
    uploads_path: Path | None = None
    record: bool | None = None
    step_results: bool = False
    recordings_path: Path | None = None
    recordings_size: int = 1 << 30
    recordings_keep_s: float = 300.0
    open_browser: bool = False

    @property
    def is_recorded(self) -> bool:
        """Whether sessions are recorded."""
        return bool(self.recording.enabled if self.record is None else self.record)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveSettings:
    """The settings in force and where each came from.

    Attributes:
        settings: The values.
        origins: Setting name to its origin: ``flag --port``, ``environment REACTOR_PORT``,
            ``reactor.yaml line 5`` or ``default``.
        ignored: Manifest keys the runtime does not use.
    """

    settings: ServeSettings
    origins: Mapping[str, str]
    ignored: tuple[str, ...] = ()


def resolve_settings(
    target: str | Path = ".",
    flags: Mapping[str, str | None] | None = None,
    environ: Mapping[str, str] | None = None,
) -> EffectiveSettings:
    """Resolve every setting for *target*.

    Args:
        target: A folder with a manifest, a manifest, or ``module:Class`` without one.
        flags: Setting name to the flag's text; ``None`` where it was not given.
        environ: Environment variables; those of this process unless given.

    Raises:
        ConfigurationError: A manifest, flag or variable is wrong; it says which and how.
    """
    manifest = _manifest_of(str(target))
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    sources = _Sources(flags or {}, os.environ if environ is None else environ, manifest)
    for setting in SETTINGS:
        values[setting.name], origins[setting.name] = sources.find(setting, values)
    if values["world_size"] == 1 and values["device"] == "cuda":  # what a rank alone takes
        values["device"] = "cuda:0"
    _check_together(values, origins)
    if manifest is not None:
        _check_config(manifest)
    known = from_manifest(manifest) if manifest else _from_reference(str(target))
    return EffectiveSettings(
        settings=ServeSettings(**known, **values),
        origins=origins,
        ignored=manifest.ignored if manifest else (),
    )


def _manifest_of(target: str) -> Manifest | None:
    if Path(target).exists() or _looks_like_path(target):
        return load_config(locate(target))
    try:
        parse_model_ref(target)
    except ValueError:
        if ":" not in target:
            wanted = "a folder with a reactor.yaml, a reactor.yaml, or module:Class"
            raise ManifestError(target, None, "no such file or folder", wanted) from None
        raise ModelImportError(
            target,
            "the reference has another form",
            None,
            "wanted module:Class, such as model:MyModel",
        ) from None
    return None


def _looks_like_path(target: str) -> bool:
    return target.endswith((".yaml", ".yml")) or (os.sep in target and ":" not in target)


def _check_config(manifest: Manifest) -> None:
    config = manifest.config_path
    if config is not None and not config.exists():
        line = manifest.lines.get("runtime.config")
        found, wanted = f"{config}, which is not there", "a file, relative to the manifest"
        raise ManifestError(str(manifest.path), "runtime.config", found, wanted, line)


def from_manifest(manifest: Manifest) -> dict[str, Any]:
    """Return the fields of ``ServeSettings`` that *manifest* alone decides, by name."""
    return {
        "model_ref": manifest.model_ref,
        "folder": manifest.folder,
        "manifest_path": manifest.path,
        "config_path": manifest.config_path,
        "weights_path": manifest.weights_path,
        "name": manifest.name,
        "version": manifest.version,
        "description": manifest.description,
        "env": manifest.runtime.env,
        "recording": manifest.recording,
        "unknown_keys": manifest.unknown_keys,
    }


def manifest_doubts(settings: ServeSettings, environ: Mapping[str, str]) -> Iterator[str]:
    """Yield what in the manifest will not do what it looks like."""
    if settings.unknown_keys:
        keys = ", ".join(settings.unknown_keys)
        yield f"{settings.manifest_path}: nothing knows {keys}, so it changes nothing"
    weights = settings.weights_path
    known = environ.get(WEIGHTS_VARIABLE) or settings.env.get(WEIGHTS_VARIABLE) or str(weights)
    if weights is not None and known == str(weights) and not weights.exists():
        yield f"{settings.manifest_path}: runtime.weights_path is {weights}, which does not exist"


def _from_reference(target: str) -> dict[str, Any]:
    return {"model_ref": target.strip(), "folder": Path.cwd()}


def import_served_class(settings: ServeSettings) -> type[Any]:
    """Import the class *settings* names, with the manifest's environment variables set.

    A variable that is already set keeps its value: the environment beats the manifest.

    Raises:
        ModelImportError: The class cannot be imported.
    """
    for name, value in settings.env.items():
        os.environ.setdefault(name, value)
    if settings.weights_path is not None:
        os.environ.setdefault(WEIGHTS_VARIABLE, str(settings.weights_path))
    if settings.workers is not None:  # for a worker group that the author builds
        os.environ["REACTOR_WORKERS"] = str(settings.workers)
    return import_model_class(settings.model_ref, settings.folder)


def check_device(settings: ServeSettings) -> None:
    """Refuse a device in process that torch cannot use, where the model's module has imported it.

    Ranks look for themselves. torch costs seconds, so nobody imports it to ask.

    Raises:
        SettingError: It says what torch sees.
    """
    kind, _, index = settings.device.partition(":")
    if settings.isolation == "process" or kind != "cuda":
        return
    count = usable_cuda_devices()
    if count is not None and int(index or 0) >= count:
        seen = f"{count or 'no'} CUDA device{'' if count == 1 else 's'}"
        found = f"{settings.device}, and torch sees {seen} here"
        wanted = f"cuda:<n> below cuda:{count}" if count else "cpu, or CUDA that torch can use"
        raise SettingError("device", found, wanted)


class _Sources:
    """Flags, environment and manifest, asked in this order."""

    def __init__(
        self,
        flags: Mapping[str, str | None],
        environ: Mapping[str, str],
        manifest: Manifest | None,
    ) -> None:
        self._flags = flags
        self._environ = environ
        self._manifest = manifest
        self._of_model = environ if manifest is None else {**manifest.runtime.env, **environ}

    def find(self, setting: Setting, above: Mapping[str, Any]) -> tuple[Any, str]:
        """Return the value in force and its origin; *above* are the settings resolved so far."""
        flag = self._flags.get(setting.name)
        if flag is not None:
            return _parsed(setting, flag, setting.flag), f"flag {setting.flag}"
        variable = self._environ.get(setting.variable, "")
        if variable.strip():
            value = _parsed(setting, variable, setting.variable)
            return value, f"environment {setting.variable}"
        given = self._in_manifest(setting)
        if given is not None:
            return given
        if setting.computed is not None:
            return setting.computed({**above, MODEL_ENVIRON: self._of_model}), "default"
        return setting.default, "default"

    def _in_manifest(self, setting: Setting) -> tuple[Any, str] | None:
        if self._manifest is None or not setting.in_manifest:
            return None
        value = getattr(self._manifest.runtime, setting.label)
        if value is None:
            return None
        line = self._manifest.lines.get(f"runtime.{setting.label}")
        return value, f"{self._manifest.path.name} line {line}"


def _parsed(setting: Setting, text: str, source: str) -> Any:
    try:
        return setting.kind.parse(text)
    except ValueError:
        hidden = setting.is_secret or setting.kind.has_login or "@" in text
        found = "a value that is not shown" if hidden else repr(text[:60])
        raise SettingError(source, found, setting.kind.wanted) from None


def _check_together(values: Mapping[str, Any], origins: Mapping[str, str]) -> None:
    """Refuse values that are right alone and wrong together.

    Raises:
        SettingError: It names the value at fault, its origin and what goes with the others.
    """
    ranks, device = values["world_size"], values["device"]
    many, pooled = ranks > 1, values["isolation"] == "process"
    is_nccl = values["comm_backend"] == "nccl"
    policy = values["on_failure"]
    rules = (
        ("isolation", many and not pooled, "process, or world_size 1"),
        ("workers", many and values["workers"] is not None, "none: the ranks are the workers"),
        ("device", many and ":" in device, "cpu or cuda: each rank takes its own"),
        ("on_failure", pooled and policy == "keep", "exit or restart: broken ranks are replaced"),
        ("on_failure", not pooled and policy == "restart", "keep or exit, or isolation process"),
        ("comm_backend", is_nccl and device == "cpu", "gloo, or a CUDA device"),
        ("comm_backend", is_nccl and values["oversubscribe"], "gloo, or no oversubscribe"),
        ("bitrate", values["bitrate"] > values["max_bitrate"], "no more than max_bitrate"),
    )
    for name, is_wrong, wanted in rules:
        if is_wrong:
            context = f"world_size {ranks}, isolation {values['isolation']}, device {device}"
            found = f"{values[name]} beside {context}"
            raise SettingError(f"{name} ({origins[name]})", found, wanted)
