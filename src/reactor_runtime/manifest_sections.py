"""The sections of a manifest: every key, what a right value is, and what it means.

The reference page of the documentation is made from here and from ``setting_table``.
"""

import re
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from reactor_runtime import setting_kinds as kinds
from reactor_runtime.mistake import problem
from reactor_runtime.model_import import parse_model_ref
from reactor_runtime.setting_kinds import Kind, Resolution
from reactor_runtime.yaml_file import Scalar, describe


def _as(kind: Kind) -> BeforeValidator:
    """Read a YAML leaf as *kind*; a null is "not given"."""

    def read(value: object) -> object:
        if isinstance(value, dict | list):
            raise problem(describe(value), kind.wanted)
        if not isinstance(value, Scalar):
            return value
        if value.is_null:
            return None
        if value.quoted and not kind.is_text:
            raise problem(describe(value), f"{kind.wanted}, without quotes")
        try:
            return kind.parse(value.text)
        except ValueError:
            raise problem(describe(value), kind.wanted) from None

    return BeforeValidator(read)


def as_section(value: object) -> object:
    """Read a mapping; an empty key is an empty mapping."""
    if value is None or (isinstance(value, Scalar) and value.is_null):
        return {}
    if isinstance(value, Scalar | list):
        raise problem(describe(value), "a mapping (keys on indented lines below)")
    return value


def _as_env(value: object) -> object:
    """Read environment variables: names to text, taken as it was written."""
    value = as_section(value)
    if not isinstance(value, dict):
        return value
    for name, item in value.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", str(name)):
            raise problem(f"the name {name!r}", "names of letters, digits and _")
        if not isinstance(item, Scalar | str):
            raise problem(f"{describe(item)} for {name}", "text for each name")
        if "\0" in (item if isinstance(item, str) else item.text):
            raise problem(f"a NUL character in {name}", "text for each name")
    return {
        name: item if isinstance(item, str) else ("" if item.is_null else item.text)
        for name, item in value.items()
    }


IMPORT = Kind(
    wanted="module:Class, such as model:MyModel",
    parse=lambda text: ":".join(parse_model_ref(text)),
    is_text=True,
)

Text = Annotated[str | None, _as(kinds.TEXT)]
PathText = Annotated[Path | None, _as(kinds.PATH)]
Switch = Annotated[bool | None, _as(kinds.SWITCH)]
Seconds = Annotated[float | None, _as(kinds.SECONDS)]
Bytes = Annotated[int | None, _as(kinds.BYTES)]
Count = Annotated[int | None, _as(kinds.whole(1, 4096))]


class Section(BaseModel):
    """A mapping of the manifest."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, strict=True)


class RecordedVideo(Section):
    """``recording.video``: how pictures are compressed."""

    codec: Annotated[str | None, _as(kinds.VIDEO_CODEC)] = Field(
        default=None, description="`h264`, the default and the only one."
    )
    crf: Annotated[int | None, _as(kinds.whole(0, 51))] = Field(
        default=None, description="Quality, 0 (lossless) to 51 (worst); 23 unless given."
    )


class RecordedAudio(Section):
    """``recording.audio``: how sound is compressed."""

    codec: Annotated[str | None, _as(kinds.AUDIO_CODEC)] = Field(
        default=None, description="`aac`, the default, or `opus`."
    )
    bitrate: Annotated[int | None, _as(kinds.BITRATE)] = Field(
        default=None, description="Bits per second, such as 96k; 128k unless given."
    )


class Recording(Section):
    """``recording``: at the top level or under ``runtime``."""

    enabled: Switch = Field(
        default=None, description="Whether sessions are recorded; not unless given."
    )
    chunk_seconds: Annotated[float | None, _as(kinds.CHUNK)] = Field(
        default=None, description="Length of a segment, 0.1 to 60; 2 unless given."
    )
    clip_max_seconds: Seconds = Field(
        default=None,
        description="How far back a clip may reach, 0 for no bound; 300 unless given.",
    )
    video_track: Text = Field(
        default=None, description="The video track recorded; the model's first unless given."
    )
    audio_track: Text = Field(
        default=None, description="The audio track recorded; the model's first unless given."
    )
    video: Annotated[RecordedVideo, BeforeValidator(as_section)] = Field(
        default_factory=RecordedVideo
    )
    audio: Annotated[RecordedAudio, BeforeValidator(as_section)] = Field(
        default_factory=RecordedAudio
    )


class ModelSection(Section):
    """``model``: who the model is."""

    name: Text = Field(default=None, description="What clients see; the class's name unless given.")
    version: Text = Field(default=None, description="Shown in the schema, such as v0.1.0.")
    description: Text = Field(default=None, description="A sentence, shown on the page.")


class RuntimeSection(Section):
    """``runtime``: which class runs, and how. Keys are the settings of the same name."""

    import_: Annotated[str, _as(IMPORT)] = Field(
        alias="import",
        description="The class, `module:Class`; the module lies beside the manifest or in a "
        "package there. The only key that must be given.",
    )
    config: PathText = Field(
        default=None,
        description="A file of the author's, handed to `load` as a path; relative to the manifest.",
    )
    weights_path: PathText = Field(
        default=None,
        description="What `get_weights_path()` returns, relative to the manifest; "
        "`REACTOR_WEIGHTS_PATH` beats it, and `weights` in the current folder is the default.",
    )
    env: Annotated[dict[str, str], BeforeValidator(_as_env)] = Field(
        default_factory=dict,
        description="Environment variables, set before the module is imported unless they are set.",
    )
    recording: Annotated[Recording, BeforeValidator(as_section)] = Field(
        default_factory=Recording,
        description="See below; it may also stand at the top level.",
    )

    world_size: Count = None
    isolation: Annotated[str | None, _as(kinds.ISOLATION)] = None
    workers: Count = None
    device: Annotated[str | None, _as(kinds.DEVICE)] = None
    comm_backend: Annotated[str | None, _as(kinds.COMM_BACKEND)] = None
    init_process_group: Switch = None
    on_failure: Annotated[str | None, _as(kinds.ON_FAILURE)] = None
    check_lockstep: Switch = None
    oversubscribe: Switch = None
    step_results: Switch = None

    turn_timeout: Seconds = None
    first_turn_timeout: Seconds = None
    load_timeout: Seconds = None
    settle_timeout: Seconds = None
    comm_timeout: Seconds = None
    orphan_timeout: Seconds = None
    connect_timeout: Seconds = None
    stop_grace: Seconds = None

    host: Annotated[str | None, _as(kinds.HOST)] = None
    port: Annotated[int | None, _as(kinds.PORT)] = None
    max_connections: Count = None
    bitrate: Annotated[int | None, _as(kinds.BITRATE)] = None
    max_bitrate: Annotated[int | None, _as(kinds.BITRATE)] = None
    max_fps: Annotated[float | None, _as(kinds.FPS)] = None
    max_resolution: Annotated[Resolution | None, _as(kinds.RESOLUTION)] = None
    playout_delay: Annotated[str | None, _as(kinds.PLAYOUT_DELAY)] = None
    max_upload: Bytes = None
    max_session_uploads: Bytes = None
    max_picture_pixels: Annotated[int | None, _as(kinds.whole(1))] = None
    min_free_disk: Bytes = None
