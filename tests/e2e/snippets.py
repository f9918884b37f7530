"""Snippets of the documentation, to be run as they stand."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.serving import ROOT

PAGES = sorted(
    str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")]
)
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"# ([\w./-]+\.\w+|[\w/]*Dockerfile)$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block of a page.

    Attributes:
        page: Where it stands.
        language: What stands behind its fence, if anything.
        text: What is between the fences.
    """

    page: str
    language: str
    text: str

    @property
    def first_line(self) -> str:
        return self.text.partition("\n")[0]

    @property
    def file(self) -> str | None:
        """The file that it is, where its first line is a comment with a file's name."""
        named = _NAME.match(self.first_line)
        return named[1] if named else None


def blocks(page: str) -> list[Block]:
    """Return every fenced block of *page*."""
    text = Path(ROOT, page).read_text(encoding="utf-8")
    found = [Block(page, language, code) for _, language, code in _BLOCK.findall(text)]
    assert 2 * len(found) == len(re.findall(r"^ *```", text, re.MULTILINE)), f"fences of {page}"
    return found


def snippet(page: str, language: str, holding: str) -> str:
    """Return the one snippet of *language* on a page that holds a text."""
    found = [b.text for b in blocks(page) if b.language == language and holding in b.text]
    assert len(found) == 1, f"{len(found)} snippets of {page} hold {holding!r}"
    return found[0]


def write_files(page: str, folder: Path) -> list[str]:
    """Write the files that *page* shows into *folder* and return their names, in order."""
    files = {block.file: block.text for block in blocks(page) if block.file}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)
