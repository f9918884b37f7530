"""SETTINGS: one row per thing a deployment decides; flags, variables and keys all come from here.

Imported by ``reactor --help``: nothing heavier than the standard library.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reactor_runtime import setting_kinds as kinds
from reactor_runtime.devices import default_device
from reactor_runtime.paths import WEIGHTS_VARIABLE
from reactor_runtime.setting import MODEL_ENVIRON, Setting


def _failure_policy(values: Mapping[str, Any]) -> str:
    """``keep`` in process, ``exit`` on ranks."""
    in_process = values["world_size"] == 1 and values["isolation"] == "in_process"
    return "keep" if in_process else "exit"


def _isolation(values: Mapping[str, Any]) -> str:
    """``in_process``, ``process`` on several ranks."""
    return "in_process" if values["world_size"] == 1 else "process"


def _process_group(values: Mapping[str, Any]) -> bool:
    """``true`` on several ranks, else ``false``."""
    return bool(values["world_size"] > 1)


def _device(values: Mapping[str, Any]) -> str:
    """``cuda:0`` where torch can use it, else ``cpu``; on several ranks ``cuda`` or ``cpu``."""
    device = default_device(values[MODEL_ENVIRON])
    return device if values["world_size"] == 1 else device.partition(":")[0]


def _collective_timeout(values: Mapping[str, Any]) -> float:
    """30 s more than the longest of loading, the first turn and the others; 0 where one is."""
    names = ("load_timeout_s", "first_turn_timeout_s", "turn_timeout_s")
    longest = [values[name] for name in names]
    return 0.0 if 0 in longest else max(longest) + 30.0


def _bitrate(values: Mapping[str, Any]) -> int:
    """3.5 Mbit/s, or ``max_bitrate`` where that is less."""
    return int(min(3_500_000, values["max_bitrate"]))


def _session_uploads(values: Mapping[str, Any]) -> int:
    """1 GiB, or ``max_upload`` where that is more."""
    return int(max(1 << 30, values["max_upload"]))


_SERVER, _MODEL, _TIME, _MEDIA, _LOGS = "Server", "Model", "Time limits", "Media", "Logs"
_UPLOADS, _RECORDINGS = "Files from clients", "Recordings"

SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="host",
        kind=kinds.HOST,
        default="127.0.0.1",
        group=_SERVER,
        about="Address to listen on; 0.0.0.0 for every network.",
    ),
    Setting(
        name="port",
        kind=kinds.PORT,
        default=8080,
        group=_SERVER,
        about="TCP port; 0 for any free one.",
    ),
    Setting(
        name="token",
        kind=kinds.SECRET,
        group=_SERVER,
        in_manifest=False,
        is_secret=True,
        about="What callers must present. Better as a variable: others see your flags.",
    ),
    Setting(
        name="allow_origin",
        kind=kinds.many(kinds.ORIGIN),
        default=(),
        group=_SERVER,
        in_manifest=False,
        is_many=True,
        about="Web origin that may call, beside this server's own and loopback.",
    ),
    Setting(
        name="allow_host",
        kind=kinds.many(kinds.HOST),
        default=(),
        group=_SERVER,
        in_manifest=False,
        is_many=True,
        about="Host name this server answers to, beside loopback and addresses.",
    ),
    Setting(
        name="stun",
        kind=kinds.many(kinds.STUN),
        default=(),
        group=_SERVER,
        in_manifest=False,
        is_many=True,
        about="STUN server, such as stun:host:3478. None is asked by default.",
    ),
    Setting(
        name="turn",
        kind=kinds.many(kinds.TURN),
        default=(),
        group=_SERVER,
        in_manifest=False,
        is_many=True,
        about="TURN server: turn:user:credential@host:3478, with ?transport=tcp if it "
        "takes TCP alone. Better as a variable.",
    ),
    Setting(
        name="public_address",
        kind=kinds.ADDRESS,
        group=_SERVER,
        in_manifest=False,
        about="IP address this host is also reached by (NAT, container).",
    ),
    Setting(
        name="port_range",
        kind=kinds.PORT_RANGE,
        group=_SERVER,
        in_manifest=False,
        about="UDP ports for media, such as 50000-50100; any unless given.",
    ),
    Setting(
        name="max_connections",
        kind=kinds.whole(1, 4096),
        default=64,
        group=_SERVER,
        about="Viewers at once.",
    ),
    Setting(
        name="world_size",
        kind=kinds.whole(1, 4096),
        default=1,
        group=_MODEL,
        about="Ranks that run the model in lockstep (experimental).",
    ),
    Setting(
        name="isolation",
        kind=kinds.ISOLATION,
        computed=_isolation,
        group=_MODEL,
        about="A process of its own suits a model that holds the GIL.",
    ),
    Setting(
        name="workers",
        kind=kinds.whole(1, 4096),
        group=_MODEL,
        about="Processes of a worker group the model builds itself (experimental).",
    ),
    Setting(
        name="device",
        kind=kinds.DEVICE,
        computed=_device,
        group=_MODEL,
        about="cpu, cuda or cuda:<n>; on several ranks each takes its own, so no <n>.",
    ),
    Setting(
        name="comm_backend",
        kind=kinds.COMM_BACKEND,
        group=_MODEL,
        about="Collectives of the ranks; by device unless given.",
    ),
    Setting(
        name="init_process_group",
        kind=kinds.SWITCH,
        computed=_process_group,
        group=_MODEL,
        about="Whether ranks join a process group; one alone has none unless told.",
    ),
    Setting(
        name="on_failure",
        kind=kinds.ON_FAILURE,
        computed=_failure_policy,
        group=_MODEL,
        about="After a failed step: keep the model (default in process), exit (default on ranks) "
        "or restart the ranks.",
    ),
    Setting(
        name="check_lockstep",
        kind=kinds.SWITCH,
        default=False,
        group=_MODEL,
        about="Compare the ranks' state after every turn.",
    ),
    Setting(
        name="oversubscribe",
        kind=kinds.SWITCH,
        default=False,
        group=_MODEL,
        about="Allow more ranks than devices.",
    ),
    Setting(
        name="turn_timeout_s",
        kind=kinds.SECONDS,
        default=60.0,
        group=_TIME,
        about="Seconds one turn may take; 0 for no bound.",
    ),
    Setting(
        name="first_turn_timeout_s",
        kind=kinds.SECONDS,
        default=600.0,
        group=_TIME,
        about="Seconds the first turn may take (compilation).",
    ),
    Setting(
        name="load_timeout_s",
        kind=kinds.SECONDS,
        default=1800.0,
        group=_TIME,
        about="Seconds loading and warming up may take.",
    ),
    Setting(
        name="settle_timeout_s",
        kind=kinds.SECONDS,
        default=5.0,
        group=_TIME,
        about="Seconds all ranks have to report after one failed.",
    ),
    Setting(
        name="comm_timeout_s",
        kind=kinds.SECONDS,
        computed=_collective_timeout,
        group=_TIME,
        about="Seconds a collective may wait.",
    ),
    Setting(
        name="orphan_timeout_s",
        kind=kinds.SECONDS,
        default=60.0,
        group=_TIME,
        about="Seconds a session lives without a viewer; 0 for ever.",
    ),
    Setting(
        name="connect_timeout_s",
        kind=kinds.number(1.0, "a number of seconds, at least 1"),
        default=30.0,
        group=_TIME,
        about="Seconds a connection has to come up.",
    ),
    Setting(
        name="stop_grace_s",
        kind=kinds.SECONDS,
        default=10.0,
        group=_TIME,
        about="Seconds from the stop signal to the end of the process.",
    ),
    Setting(
        name="max_bitrate",
        kind=kinds.BITRATE,
        default=8_000_000,
        group=_MEDIA,
        about="Bits per second no video track exceeds.",
    ),
    Setting(
        name="bitrate",
        kind=kinds.BITRATE,
        computed=_bitrate,
        group=_MEDIA,
        about="Video bits per second at 1280x720 and 24 fps, such as 4M.",
    ),
    Setting(
        name="max_fps",
        kind=kinds.FPS,
        default=60.0,
        group=_MEDIA,
        about="Frames per second video is shown at, at most.",
    ),
    Setting(
        name="max_resolution",
        kind=kinds.RESOLUTION,
        group=_MEDIA,
        about="Larger pictures are scaled down to this, such as 1280x720.",
    ),
    Setting(
        name="playout_delay",
        kind=kinds.PLAYOUT_DELAY,
        default="auto",
        group=_MEDIA,
        about="Viewers show pictures at once, or as they decide; auto is low on local networks.",
    ),
    Setting(
        name="max_upload",
        kind=kinds.BYTES,
        default=256 << 20,
        group=_UPLOADS,
        about="Largest file a client may send.",
    ),
    Setting(
        name="max_session_uploads",
        kind=kinds.BYTES,
        computed=_session_uploads,
        group=_UPLOADS,
        about="All files of one session together, such as 1G.",
    ),
    Setting(
        name="max_picture_pixels",
        kind=kinds.whole(1),
        default=100_000_000,
        group=_UPLOADS,
        about="Width times height of the largest picture file.",
    ),
    Setting(
        name="min_free_disk",
        kind=kinds.BYTES,
        default=512 << 20,
        group=_UPLOADS,
        about="What files and recordings must leave free on the disk.",
    ),
    Setting(
        name="uploads_path",
        kind=kinds.PATH,
        group=_UPLOADS,
        in_manifest=False,
        about="Folder for files while a session lasts; that of temporary files unless given.",
    ),
    Setting(
        name="record",
        kind=kinds.SWITCH,
        group=_RECORDINGS,
        in_manifest=False,
        about="Record sessions, for clips; what recording.enabled says unless given.",
    ),
    Setting(
        name="step_results",
        kind=kinds.SWITCH,
        default=False,
        group=_RECORDINGS,
        about="Keep the result of every step as a folder, under the limits of recordings.",
    ),
    Setting(
        name="recordings_path",
        kind=kinds.PATH,
        group=_RECORDINGS,
        in_manifest=False,
        about="Folder for recordings while the server lives; that of temporary files unless given.",
    ),
    Setting(
        name="recordings_size",
        kind=kinds.BYTES,
        default=1 << 30,
        group=_RECORDINGS,
        in_manifest=False,
        about="Bytes of all recordings; past them the oldest seconds go.",
    ),
    Setting(
        name="recordings_keep_s",
        kind=kinds.SECONDS,
        default=300.0,
        group=_RECORDINGS,
        in_manifest=False,
        about="Seconds a recording is kept after its session has ended.",
    ),
    Setting(
        name="log_format",
        kind=kinds.LOG_FORMAT,
        default="text",
        group=_LOGS,
        in_manifest=False,
        about="How log lines look.",
    ),
    Setting(
        name="log_level",
        kind=kinds.LOG_LEVEL,
        default="info",
        group=_LOGS,
        in_manifest=False,
        about="The least important lines written.",
    ),
)


def misspelt_variables(environ: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each variable that is nearly one of ours and none, with the one it is near."""
    known = (*(setting.variable for setting in SETTINGS), WEIGHTS_VARIABLE)
    for name in sorted(environ):
        if name.upper().startswith("REACTOR_") and name not in known:
            near = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.85)
            if near:
                yield name, near[0]
