"""Snippets of the documentation, to be run as they stand."""

import re
from pathlib import Path

from tests.e2e.serving import ROOT


def snippet(page: str, language: str, holding: str) -> str:
    """Return the one snippet of *language* on a page that holds a text."""
    text = Path(ROOT, page).read_text(encoding="utf-8")
    found = [s for s in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holding in s]
    assert len(found) == 1, f"{len(found)} snippets of {page} hold {holding!r}"
    return str(found[0])
