"""Manifest: what ``reactor.yaml`` says, in every published form.

One pydantic model. Unknown keys of published manifests are accepted and ignored; a near miss of a
known key is an error. What flags and the environment change is ``settings``' business.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from reactor_runtime.errors import ManifestError
from reactor_runtime.manifest_file import read_manifest_file
from reactor_runtime.manifest_sections import (
    IMPORT,
    ModelSection,
    RecordedAudio,
    RecordedVideo,
    Recording,
    RuntimeSection,
    Section,
    as_section,
)
from reactor_runtime.mistake import first_mistake, near_miss
from reactor_runtime.model_import import import_model_class
from reactor_runtime.yaml_file import Place, YamlFile

__all__ = ["Manifest", "Recording", "import_model_class", "load_config"]

_SECRET_KEYS = frozenset({"token", "turn", "password", "credential", "secret"})


class Manifest(Section):
    """A manifest that can be used.

    Attributes:
        path: The file.
        model: Who the model is.
        runtime: Which class runs, and how.
        lines: Dotted key to its line, for keys the runtime knows.
        ignored: Dotted keys the runtime does not use.
    """

    path: Path
    model: Annotated[ModelSection, BeforeValidator(as_section)] = Field(
        default_factory=ModelSection
    )
    runtime: Annotated[RuntimeSection, BeforeValidator(as_section)]
    lines: dict[str, int] = Field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """The manifest's folder, absolute: what relative paths and imports start from."""
        return self.path.parent.absolute()

    @property
    def model_ref(self) -> str:
        """The class, as ``module:Class``."""
        return self.runtime.import_

    @property
    def config_path(self) -> Path | None:
        """The author's config, absolute; handed to ``load``."""
        return self._from_folder(self.runtime.config)

    @property
    def weights_path(self) -> Path | None:
        """Where weights lie, absolute."""
        return self._from_folder(self.runtime.weights_path)

    @property
    def recording(self) -> Recording:
        """How sessions are recorded."""
        return self.runtime.recording

    @property
    def unknown_keys(self) -> tuple[str, ...]:
        """What is ignored under ``runtime``, where published manifests have no other keys."""
        return tuple(key for key in self.ignored if key.startswith("runtime."))

    @property
    def name(self) -> str | None:
        """``model.name``."""
        return self.model.name

    @property
    def version(self) -> str | None:
        """``model.version``."""
        return self.model.version

    @property
    def description(self) -> str | None:
        """``model.description``."""
        return self.model.description

    def _from_folder(self, path: Path | None) -> Path | None:
        return None if path is None else self.folder / path


def load_config(path: str | Path = ".") -> Manifest:
    """Read the manifest at *path*, a file or the folder it is in.

    Raises:
        ManifestError: Something is wrong; it names file, line, key, what was found and wanted.
    """
    file = read_manifest_file(path)
    top = _with_recording_under_runtime(file)
    ignored = (
        *_check_keys(file, (), _TOP_KEYS),
        *_check_keys(file, ("model",), _MODEL_KEYS),
        *_check_keys(file, ("runtime",), _RUNTIME_KEYS),
        *(
            key
            for above in ((), ("runtime",))
            for below, keys in _RECORDING_KEYS.items()
            for key in _check_keys(file, (*above, "recording", *below), keys)
        ),
    )
    try:
        return Manifest.model_validate(
            {"path": file.path, "lines": _dotted_lines(file), "ignored": ignored, **top}
        )
    except ValidationError as error:
        raise _manifest_error(file, error) from None


_FORM = "$schema"  # which published form it is; all are read alike, so it says nothing more
_TOP_KEYS = frozenset({"model", "runtime", "recording"})
_MODEL_KEYS = frozenset(ModelSection.model_fields)
_RUNTIME_KEYS = frozenset(
    field.alias or name for name, field in RuntimeSection.model_fields.items()
)
_RECORDING_KEYS: dict[Place, frozenset[str]] = {
    (): frozenset(Recording.model_fields),
    ("video",): frozenset(RecordedVideo.model_fields),
    ("audio",): frozenset(RecordedAudio.model_fields),
}


def _with_recording_under_runtime(file: YamlFile) -> dict[str, Any]:
    """Return the known sections; a top-level ``recording`` moves to where v2 puts it."""
    model, runtime = file.tree.get("model"), file.tree.get("runtime")
    recording = file.tree.get("recording")
    if recording is not None and isinstance(runtime, dict):
        if "recording" in runtime:
            line = file.lines.get(("recording",))
            found, wanted = "a second one under runtime", "one of the two"
            raise ManifestError(str(file.path), "recording", found, wanted, line)
        runtime = {**runtime, "recording": recording}
    return {"model": model, "runtime": runtime}


def _check_keys(file: YamlFile, place: Place, known: frozenset[str]) -> list[str]:
    """Return the section's unknown keys, dotted.

    Raises:
        ManifestError: One of them is a near miss, stands in the wrong section, or is a secret.
    """
    section: Any = file.tree
    for step in place:
        section = section.get(step) if isinstance(section, dict) else None
    if not isinstance(section, dict):
        return []
    unknown = [key for key in section if key not in known and key != _FORM]
    for key in unknown:
        _check_unknown_key(file, (*place, key), known)
    return [".".join([*map(str, place), key]) for key in unknown]


def _check_unknown_key(file: YamlFile, place: Place, known: frozenset[str]) -> None:
    key = str(place[-1])
    dotted, line = ".".join(map(str, place)), file.lines.get(place)
    meant = near_miss(key, known)
    if meant is not None:
        wanted = ".".join([*map(str, place[:-1]), meant])
        raise ManifestError(
            str(file.path), dotted, "an unknown key", f"a known one: {wanted}?", line
        )
    if len(place) == 1 and key in _RUNTIME_KEYS - {"config", "env", "host", "port"}:
        found = "it at the top level"
        raise ManifestError(str(file.path), dotted, found, f"runtime.{key}", line)
    if place[0] == "runtime" and len(place) == 2 and key in _SECRET_KEYS:
        wanted = f"REACTOR_{key.upper()} in the environment, or a flag"
        raise ManifestError(str(file.path), dotted, "a secret in a file", wanted, line)


def _dotted_lines(file: YamlFile) -> dict[str, int]:
    known = {"model": _MODEL_KEYS, "runtime": _RUNTIME_KEYS}
    return {
        ".".join(map(str, place)): line
        for place, line in file.lines.items()
        if len(place) == 2 and place[1] in known.get(str(place[0]), ())
    }


def _manifest_error(file: YamlFile, error: ValidationError) -> ManifestError:
    """Return the first problem, in the words of a manifest."""
    mistake = first_mistake(error, Manifest)
    wanted = mistake.wanted
    if mistake.key == "runtime.import":
        wanted = IMPORT.wanted
    line = _line_of(file, mistake.place)
    return ManifestError(str(file.path), mistake.key, mistake.found, wanted, line)


def _line_of(file: YamlFile, place: Place) -> int | None:
    if place[:2] == ("runtime", "recording") and place not in file.lines:
        place = place[1:]
    return file.line_of(place)
