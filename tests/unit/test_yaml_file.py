"""A file in JSON means in YAML what it means in JSON."""

import json
from pathlib import Path

import pytest

from reactor_runtime.errors import ManifestError
from reactor_runtime.yaml_file import FileKind, read_yaml_file

KIND = FileKind(name="a manifest", needs="runtime.import", error=ManifestError)
TEXTS = ["\U0001f600", "a\x85b", "a\x7fb", "a\u2028 b", "\ufeff", "\x00\n\t", 'a\\ud83d/"', "ü\xa0"]


@pytest.mark.parametrize("text", [*TEXTS, "".join(TEXTS)])
@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_text_in_json_is_read_as_it_is(tmp_path: Path, text: str, ensure_ascii: bool) -> None:
    path = tmp_path / "reactor.yaml"
    path.write_text(json.dumps({"name": text}, ensure_ascii=ensure_ascii, indent="\t"), "utf-8")
    assert read_yaml_file(path, KIND).tree["name"].text == text
