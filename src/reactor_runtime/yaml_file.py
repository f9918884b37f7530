"""YamlFile: a YAML file a person wrote, as a bounded tree whose leaves still know what was written.

YAML 1.1 guesses types from notation (``no`` is false, ``1:30`` is ninety, ``1.10`` is 1.1). Here a
leaf stays the text in the file, and the key it stands under decides what it means. Size, depth
and alias expansion are bounded, so a hostile file costs an error and a moment.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Never

import yaml

from reactor_runtime.errors import ConfigFileError

_MAX_BYTES = 256 * 1024
_MAX_VALUES = 20_000  # aliases count as what they expand to
_MAX_DEPTH = 32
_SHOWN = 60  # characters of a wrong value that an error repeats
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
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
class YamlFile:
    """The file, read.

    Attributes:
        path: Where it is.
        tree: Nested dicts and lists with ``Scalar`` leaves.
        lines: The line of every key and item, by its place in the tree.
    """

    path: Path
    tree: dict[str, Any]
    lines: dict[Place, int]

    def line_of(self, place: Place) -> int | None:
        """Return the line of *place*, or of the nearest key above it that is in the file."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place) if place else None


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
    if isinstance(value, str):
        return f"the text {value[:_SHOWN]!r}" + "…" * (len(value) > _SHOWN)
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return repr(value)[:_SHOWN]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """What a file is to be.

    Attributes:
        name: With its article: a manifest, a job.
        needs: What it must have at least.
        error: What a mistake in one raises.
    """

    name: str
    needs: str
    error: type[ConfigFileError]


def read_yaml_file(path: Path, kind: FileKind) -> YamlFile:
    """Read the file at *path*, whose mistakes are errors of *kind*.

    Raises:
        ConfigFileError: It is missing, not UTF-8, not YAML, too large, or not one mapping.
    """
    text = _as_yaml(_read_text(path, kind))
    builder = _TreeBuilder(str(path), kind)
    try:
        tree = builder.build(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise _syntax_error(path, kind, text, error) from None
    if tree is None or (isinstance(tree, Scalar) and tree.is_null):
        raise kind.error(str(path), None, "an empty file", f"at least {kind.needs}")
    if not isinstance(tree, dict):
        wanted, line = f"a mapping with {kind.needs}", builder.lines.get(())
        raise kind.error(str(path), None, describe(tree), wanted, line)
    return YamlFile(path=path, tree=tree, lines=builder.lines)


def _read_text(file: Path, kind: FileKind) -> str:
    try:
        with file.open("rb") as stream:
            raw = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        raise kind.error(str(file), None, "no such file", kind.name) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise kind.error(str(file), None, f"an unreadable file ({reason})", "a file") from None
    if len(raw) > _MAX_BYTES:
        found = f"more than {_MAX_BYTES // 1024} KiB"
        raise kind.error(str(file), None, found, f"{kind.name} of a few lines")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{raw[error.start]:02x}, which is not UTF-8"
        raise kind.error(str(file), None, found, "a UTF-8 file", line) from None


def _as_yaml(text: str) -> str:
    """Return JSON without what YAML reads otherwise: tabs, and characters written as two halves."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return text
    plain = text.replace("\t", " ")  # in JSON only between tokens
    return _STRING.sub(_as_yaml_string, plain)


def _as_yaml_string(match: re.Match[str]) -> str:
    """Return a string of JSON; what YAML refuses or folds as it stands is left escaped."""
    text = (c if c >= "\ud800" else json.dumps(c)[1:-1] for c in json.loads(match[0]))
    return f'"{"".join(text)}"'


def _syntax_error(file: Path, kind: FileKind, text: str, error: yaml.YAMLError) -> ConfigFileError:
    if isinstance(error, yaml.reader.ReaderError):
        row = text.count("\n", 0, error.position) + 1
        found = f"the character U+{ord(text[error.position]):04X}"
        return kind.error(str(file), None, found, "printable characters", row)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "bad YAML")
    line = mark.line + 1 if mark is not None else None
    if "'\\t'" in problem:
        return kind.error(str(file), None, "a tab", "spaces for indentation", line)
    if mark is not None and (hint := _hint(problem)) is not None:
        written = text.splitlines()[mark.line]
        before = written[: mark.column].strip()  # where a second colon is the mistake
        key = (before or written.partition(":")[0].strip())[:_SHOWN]
        return kind.error(str(file), None, f"{key!r} {hint[0]} (bad YAML)", hint[1], line)
    return kind.error(str(file), None, f"bad YAML ({problem})", "valid YAML", line)


_STRAIGHT = "the keys of a section exactly under one another, two spaces deeper than its name"


def _hint(problem: str) -> tuple[str, str] | None:
    """Return what is wrong with a line and what to do, for what indentation mostly leads to."""
    if problem.endswith("but found '<block mapping start>'"):
        return "indented unlike the keys around it", _STRAIGHT
    if problem == "mapping values are not allowed here":
        cure = f"{_STRAIGHT}; a colon after each, and quotes around text with a colon in it"
        return "where no key can stand", cure
    return None


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


class _TreeBuilder:
    """Builds the tree from parse events, in one pass, within the bounds."""

    def __init__(self, file: str, kind: FileKind) -> None:
        self._file, self._kind = file, kind
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
                found = describe(mapping)
                raise self._kind.error(self._file, "<<", found, "a mapping to merge", line)
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
            self._refuse(
                f"more than {_MAX_VALUES} values", f"{self._kind.name} of a few lines", event
            )

    def _refuse(self, found: str, wanted: str, event: Any) -> Never:
        raise self._kind.error(self._file, None, found, wanted, _line(event))
