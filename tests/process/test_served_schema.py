"""The schema a server answers is the one that is written without serving."""

import json
import urllib.request

from tests.e2e.serving import ROOT, serving

from reactor_runtime.schema import render


def test_the_served_schema_is_the_rendered_one() -> None:
    folder = ROOT / "examples" / "clock"
    with serving(folder) as served, urllib.request.urlopen(f"{served.url}/schema") as answer:
        document = json.load(answer)
    assert document == render(folder)
    assert document["info"]["version"] == "v1.0.0"
    assert document["info"]["description"] == (
        "An analog clock, drawn by a hand-written loop."  # the manifest's words
    )
