"""ManifestFile: a YAML file as a bounded tree whose leaves still know what was written.

YAML 1.1 guesses types from notation (``no`` is false, ``1:30`` is ninety, ``1.10`` is 1.1). Here a
leaf stays the text in the file, and the key it stands under decides what it means. Size, depth
and alias expansion are bounded, so a hostile file costs an error and a moment.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

import yaml

from reactor_runtime.errors import ManifestError

MANIFEST_NAME = "reactor.yaml"

_MAX_BYTES = 256 * 1024
_MAX_VALUES = 20_000  # aliases count as what they expand to
_MAX_DEPTH = 32
_SHOWN = 60  # characters of a wrong value that an error repeats
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_STR_TAG = "tag:yaml.org,2002:str"

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """One leaf: the text as written, its line (from 1), and whether it was quoted or a block."""

    text: str
    line: int
    quoted: bool = False

    @property
    def is_null(self) -> bool:
        """Whether nothing was written."""
        return not self.quoted and self.text in _NULLS


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """The file, read.

    Attributes:
        path: Where it is.
        tree: Nested dicts and lists with ``Scalar`` leaves.
        lines: The line of every key and item, by its place in the tree.
    """

    path: Path
    tree: dict[str, Any]
    lines: dict[Place, int]


def describe(value: object) -> str:
    """Return what *value* is, for "found …"."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Scalar):
        if value.is_null:
            return "nothing"
        text = value.text if len(value.text) <= _SHOWN else value.text[:_SHOWN] + "…"
        return f"the text {text!r}" if value.quoted else repr(text).strip("'\"")
    return f"{type(value).__name__} {value!r}"[:_SHOWN]


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


def read_manifest_file(path: str | Path) -> ManifestFile:
    """Read a manifest.

    Raises:
        ManifestError: It is missing, not UTF-8, not YAML, too large, or not one mapping.
    """
    file = locate(path)
    text = _read_text(file)
    builder = _TreeBuilder(file)
    try:
        tree = builder.build(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _syntax_error(file, error) from None
    if tree is None or (isinstance(tree, Scalar) and tree.is_null):
        raise ManifestError(str(file), None, "an empty file", "at least runtime.import")
    if not isinstance(tree, dict):
        raise ManifestError(
            str(file), None, describe(tree), "a mapping with runtime.import", builder.lines.get(())
        )
    return ManifestFile(path=file, tree=tree, lines=builder.lines)


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ManifestError(str(file), None, f"an unreadable file ({reason})", "a file") from None
    if len(raw) > _MAX_BYTES:
        raise ManifestError(
            str(file), None, f"more than {_MAX_BYTES // 1024} KiB", "a manifest of a few lines"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{raw[error.start]:02x}, which is not UTF-8"
        raise ManifestError(str(file), None, found, "a UTF-8 file", line) from None


def _syntax_error(file: Path, error: yaml.YAMLError) -> ManifestError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "bad YAML")
    line = mark.line + 1 if mark is not None else None
    if "'\\t'" in problem:
        return ManifestError(str(file), None, "a tab", "spaces for indentation", line)
    return ManifestError(str(file), None, f"bad YAML ({problem})", "valid YAML", line)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _TreeBuilder:
    """Builds the tree from parse events, in one pass, within the bounds."""

    def __init__(self, file: Path) -> None:
        self._file = str(file)
        self._anchors: dict[str, tuple[Any, int] | None] = {}  # None while it is being read
        self._values = 0
        self.lines: dict[Place, int] = {}

    def build(self, events: Iterator[Any]) -> Any:
        """Return the one document, ``None`` when there is none."""
        tree = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse("a second document", "one document", event)
            elif isinstance(event, yaml.NodeEvent):
                tree = self._node(event, events, ())
        return tree

    def _node(self, event: Any, events: Iterator[Any], place: Place) -> Any:
        self.lines.setdefault(place, _line(event))
        if len(place) > _MAX_DEPTH:
            self._refuse(f"more than {_MAX_DEPTH} levels", "a flatter file", event)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        before = self._values
        anchor = getattr(event, "anchor", None)
        if anchor:
            self._anchors[anchor] = None
        self._count(1, event)
        value = self._value(event, events, place)
        if anchor:
            self._anchors[anchor] = (value, self._values - before)
        return value

    def _value(self, event: Any, events: Iterator[Any], place: Place) -> Any:
        if getattr(event, "tag", None) not in (None, "!", _STR_TAG):
            self._refuse(f"the tag {event.tag[:_SHOWN]}", "plain YAML without tags", event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, place)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, place)
        line = _line(event)
        quoted = event.style is not None or event.tag is not None
        return Scalar(text=event.value, line=line, quoted=quoted)

    def _mapping(self, events: Iterator[Any], place: Place) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        merged: list[Any] = []
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse("a key that is no word", "words as keys", event)
            here = (*place, event.value)
            if event.value == "<<" and event.style is None:
                merged.append(self._node(next(events), events, here))
                continue
            if event.value in entries:
                first = self.lines.get(here)
                found = f"a second {'.'.join(map(str, here))!r} (the first is on line {first})"
                self._refuse(found, "each key once", event)
            self.lines[here] = _line(event)
            entries[event.value] = self._node(next(events), events, here)
        for source in merged:
            self._merge(entries, source, place)
        return entries

    def _merge(self, entries: dict[str, Any], source: Any, place: Place) -> None:
        for mapping in source if isinstance(source, list) else [source]:
            if not isinstance(mapping, dict):
                line = self.lines.get((*place, "<<"))
                raise ManifestError(self._file, "<<", describe(mapping), "a mapping to merge", line)
            for key, value in mapping.items():
                entries.setdefault(key, value)

    def _sequence(self, events: Iterator[Any], place: Place) -> list[Any]:
        items: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, (*place, len(items))))
        return items

    def _alias(self, event: Any) -> Any:
        known = self._anchors.get(event.anchor)
        if known is None:
            state = "inside itself" if event.anchor in self._anchors else "before it is defined"
            self._refuse(f"*{event.anchor[:_SHOWN]} {state}", "an earlier anchor", event)
        value, size = known
        self._count(size, event)
        return value

    def _count(self, values: int, event: Any) -> None:
        self._values += values
        if self._values > _MAX_VALUES:
            self._refuse(f"more than {_MAX_VALUES} values", "a manifest of a few lines", event)

    def _refuse(self, found: str, wanted: str, event: Any) -> Never:
        raise ManifestError(self._file, None, found, wanted, _line(event))
