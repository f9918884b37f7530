"""Writes the tables of the reference pages from the code: ``python docs/write_tables.py``.

A page holds pairs of lines ``<!-- table NAME -->`` and ``<!-- end -->``; what stands between them
is replaced. A test fails where a page is not what this writes.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path

from pydantic import BaseModel

from reactor_runtime.cli.check import shown
from reactor_runtime.manifest_sections import (
    ModelSection,
    RecordedAudio,
    RecordedVideo,
    Recording,
    RuntimeSection,
)
from reactor_runtime.metrics import LABELS, Metrics
from reactor_runtime.setting import Setting
from reactor_runtime.setting_table import SETTINGS

PAGES = [Path(__file__).with_name(name) for name in ("manifest.md", "metrics.md")]
_TABLE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines).replace("<", "\\<")


def manifest_keys() -> str:
    """Return the keys that are no settings: of ``model``, and of ``runtime`` itself."""
    settings = {setting.label for setting in SETTINGS}
    rows = [*key_rows("model", ModelSection)]
    rows += [
        row
        for row in key_rows("runtime", RuntimeSection)
        if row[0].split(".")[1][:-1] not in settings
    ]
    return table(("key", "meaning"), rows)


def recording_keys() -> str:
    """Return the keys of ``recording``."""
    rows = [row for row in key_rows("recording", Recording) if row[1]]
    rows += [*key_rows("recording.video", RecordedVideo)]
    rows += [*key_rows("recording.audio", RecordedAudio)]
    return table(("key", "meaning"), rows)


def key_rows(section: str, model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield name and description of each key of a section."""
    for name, field in model.model_fields.items():
        yield f"`{section}.{field.alias or name}`", field.description or ""


def setting_rows(*, in_manifest: bool) -> str:
    """Return the settings a manifest has a key for, or those it has none for."""
    chosen = [setting for setting in SETTINGS if setting.in_manifest is in_manifest]
    name = (lambda s: f"runtime.{s.label}") if in_manifest else (lambda s: s.flag)
    rows = ((f"`{name(s)}`", s.kind.wanted, default_of(s), s.about) for s in chosen)
    return table(("key" if in_manifest else "flag", "value", "default", "meaning"), rows)


def default_of(setting: Setting) -> str:
    """Return a setting's default in words."""
    if setting.computed is not None:
        return (inspect.getdoc(setting.computed) or "").rstrip(".").replace("``", "`")
    return {"yes": "true", "no": "false"}.get(shown(setting, setting.default)) or shown(
        setting, setting.default
    )


def metric_rows() -> str:
    """Return every figure: its name when scraped, kind, labels and meaning."""
    metrics, rows = Metrics(), []
    for field in fields(metrics):
        if LABELS in field.metadata:
            (family,) = getattr(metrics, field.name).describe()
            name = family.name + ("_total" if family.type == "counter" else "")
            labels = ", ".join(f"`{label}`" for label in field.metadata[LABELS])
            rows.append((f"`{name}`", family.type, labels, family.documentation))
    return table(("metric", "kind", "labels", "meaning"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "manifest-keys": manifest_keys,
    "recording-keys": recording_keys,
    "manifest-settings": lambda: setting_rows(in_manifest=True),
    "other-settings": lambda: setting_rows(in_manifest=False),
    "metrics": metric_rows,
}


def written(page: Path) -> str:
    """Return the text of *page* with its tables made anew."""
    text = page.read_text(encoding="utf-8")
    return _TABLE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[3]}", text)


def main() -> None:
    """Rewrite the pages."""
    for page in PAGES:
        page.write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    main()
