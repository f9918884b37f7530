"""The manifest's file: where it is, and what it says, read."""

from pathlib import Path

from reactor_runtime.errors import ManifestError
from reactor_runtime.yaml_file import FileKind, YamlFile, read_yaml_file

MANIFEST_NAME = "reactor.yaml"
_KIND = FileKind(name="a manifest", needs="runtime.import", error=ManifestError)


def locate(path: str | Path) -> Path:
    """Return the manifest *path* means: itself, or the one in that folder.

    Raises:
        ManifestError: There is none.
    """
    given = Path(path)
    try:
        given = given.expanduser()
        candidates = [given / MANIFEST_NAME, given / "reactor.yml"] if given.is_dir() else [given]
        for candidate in candidates:
            if candidate.is_file():
                return _no_program(candidate)
    except (OSError, ValueError, RuntimeError) as error:
        found = f"a path that cannot be read ({error})"
        raise ManifestError(str(given), None, found, "a file") from None
    found = "a folder without one" if given.is_dir() else "no such file"
    raise ManifestError(
        str(candidates[0]),
        None,
        found,
        "a manifest (runtime.import is its only required key; `reactor init NAME` writes one)",
    )


def _no_program(file: Path) -> Path:
    if file.suffix != ".py":
        return file
    names = [part for part in file.with_suffix("").parts if part.isidentifier()]
    name = "".join(word.capitalize() for word in names[-1].split("_")) if names else "Class"
    module = "module" if not names else names[-1] if file.is_absolute() else ".".join(names)
    wanted = f"module:Class, such as {module}:{name}, or a folder with a {MANIFEST_NAME}"
    raise ManifestError(str(file), None, "a Python file", wanted)


def read_manifest_file(path: str | Path) -> YamlFile:
    """Read a manifest.

    Raises:
        ManifestError: It is missing, not UTF-8, not YAML, too large, or not one mapping.
    """
    return read_yaml_file(locate(path), _KIND)
