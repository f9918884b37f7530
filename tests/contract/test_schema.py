"""The schema document, as the wire describes it, down to the last key."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reactor_runtime.errors import ConfigurationError, ModelImportError
from reactor_runtime.schema import main, render

SOURCE = (Path(__file__).parents[1] / "models" / "catalogue.py").read_text(encoding="utf-8")
MANIFEST = "runtime:\n  import: catalogue:Catalogue\n"

REFERENCE = {"$ref": "#/components/schemas/ReactorUploadReference"}
POSE = {
    "type": "object",
    "properties": {
        "x": {"type": "number"},
        "y": {"type": "number", "default": 0.0},
        "tags": {"type": "array", "items": {"type": "string"}, "default": []},
    },
    "required": ["x"],
}


def body(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {n: {"x-reactor-moderate": False, **p} for n, p in properties.items()},
    }
    if required:
        schema["required"] = list(required)
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def answer(name: str) -> dict[str, Any]:
    ref = {"$ref": f"#/components/schemas/{name}"}
    return {"200": {"description": name, "content": {"application/json": {"schema": ref}}}}


def webhook(name: str) -> dict[str, Any]:
    ref = {"$ref": f"#/components/schemas/{name}"}
    return {"required": True, "content": {"application/json": {"schema": ref}}}


ACCEPTED = {"202": {"description": "Command accepted"}}

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Catalogue", "version": "v0.0.0", "description": "Shows everything."},
    "x-reactor": {
        "tracks": [
            {"name": "main_video", "kind": "video", "direction": "out"},
            {"name": "main_audio", "kind": "audio", "direction": "out"},
            {"name": "webcam", "kind": "video", "direction": "in"},
        ]
    },
    "paths": {
        "/events/place": {
            "post": {
                "operationId": "place",
                "summary": "Put something somewhere.",
                "requestBody": body(
                    {
                        "pose": POSE,
                        "side": {"type": "string", "enum": ["left", "right"], "default": "left"},
                        "weights": {
                            "type": "array",
                            "items": {"type": "array", "items": {"type": "number"}},
                            "maxLength": 4,
                        },
                    },
                    "pose",
                    "weights",
                ),
                "responses": answer("Placed"),
            }
        },
        "/events/attach": {
            "post": {
                "operationId": "attach",
                "summary": "Trigger attach",
                "requestBody": body(
                    {
                        "files": {"type": "array", "items": REFERENCE},
                        "cover": {"anyOf": [REFERENCE, {"type": "null"}], "default": None},
                        "numbers": {
                            "anyOf": [
                                {"type": "array", "items": {"type": "integer"}},
                                {"type": "null"},
                            ],
                            "description": "Some.",
                            "default": None,
                        },
                        "extra": {"type": "object", "additionalProperties": {}, "default": None},
                        "anything": {"default": 1},
                        "size": {"type": "integer", "enum": [1, 2, 4], "default": 2},
                        "mixed": {"enum": ["a", 1], "default": "a"},
                        "flag": {"type": "boolean", "default": False},
                    },
                    "files",
                ),
                "responses": ACCEPTED,
            }
        },
        "/events/reset": {
            "post": {
                "operationId": "reset",
                "summary": "Trigger reset",
                "requestBody": body({}),
                "responses": answer("Placed"),
            }
        },
        "/events/set_prompt": {
            "post": {
                "operationId": "set_prompt",
                "summary": "What to show.",
                "requestBody": body(
                    {
                        "prompt": {
                            "type": "string",
                            "description": "What to show.",
                            "minLength": 1,
                            "maxLength": 200,
                            "default": "a sea",
                            "x-reactor-moderate": True,
                        }
                    }
                ),
                "responses": ACCEPTED,
            }
        },
        "/events/set_speed": {
            "post": {
                "operationId": "set_speed",
                "summary": "Trigger set_speed",
                "requestBody": body(
                    {"speed": {"type": "number", "minimum": 0, "maximum": 4.5, "default": 1.0}}
                ),
                "responses": ACCEPTED,
            }
        },
        "/events/set_mood": {
            "post": {
                "operationId": "set_mood",
                "summary": "Trigger set_mood",
                "requestBody": body(
                    {"mood": {"type": "string", "enum": ["calm", "wild"], "default": "calm"}}
                ),
                "responses": ACCEPTED,
            }
        },
        "/events/set_picture": {
            "post": {
                "operationId": "set_picture",
                "summary": "Trigger set_picture",
                "requestBody": body({"picture": REFERENCE}, "picture"),
                "responses": ACCEPTED,
            }
        },
    },
    "webhooks": {
        "placed": {
            "post": {
                "operationId": "placed",
                "summary": "Where something was put.",
                "requestBody": webhook("Placed"),
            }
        },
        "noticed": {"post": {"operationId": "noticed", "requestBody": webhook("Noticed")}},
    },
    "components": {
        "schemas": {
            "Placed": {
                "type": "object",
                "properties": {
                    "pose": {**POSE, "description": "Where."},
                    "count": {
                        "type": "integer",
                        "description": "How many are there.",
                        "default": 0,
                    },
                },
                "required": ["pose"],
            },
            "Noticed": {
                "type": "object",
                "properties": {
                    "text": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
                },
            },
            "ReactorUploadReference": {
                "type": "object",
                "format": "reactor-upload-reference",
                "properties": {
                    "upload_id": {"type": "string", "format": "uuid"},
                    "name": {"type": "string"},
                    "mime_type": {"type": "string"},
                    "size": {"type": "integer"},
                },
                "required": ["upload_id", "name", "mime_type", "size"],
            },
        }
    },
}


@pytest.fixture(params=["evaluated", "postponed"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A model's folder; the same class with its annotations evaluated, and as text."""
    future = "" if request.param == "evaluated" else "from __future__ import annotations\n"
    (tmp_path / "catalogue.py").write_text(future + SOURCE, encoding="utf-8")
    (tmp_path / "reactor.yaml").write_text(MANIFEST, encoding="utf-8")
    return tmp_path


def test_the_document_is_this_one(folder: Path) -> None:
    assert render(folder) == DOCUMENT


def test_the_order_of_paths_tracks_and_arguments_is_that_of_declaration(folder: Path) -> None:
    assert json.dumps(render(folder)["paths"]).startswith('{"/events/place"')
    assert list(render(folder)["paths"]) == list(DOCUMENT["paths"])


def test_version_name_and_description_can_be_stamped(folder: Path) -> None:
    text = "model:\n  name: shop\n  description: A shop.\n" + MANIFEST
    (folder / "reactor.yaml").write_text(text, encoding="utf-8")
    info = render(folder, version="v1.2.3")["info"]
    assert info == {"title": "shop", "version": "v1.2.3", "description": "A shop."}


def test_the_version_of_the_manifest_is_stamped_unless_another_is_asked_for(folder: Path) -> None:
    text = "model: {name: shop, version: 1.10}\n" + MANIFEST
    (folder / "reactor.yaml").write_text(text, encoding="utf-8")
    assert render(folder)["info"]["version"] == "1.10"
    assert render(folder, version="v2")["info"]["version"] == "v2"


def test_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "bare_model.py").write_text(
        "from reactor_runtime import ReactorModel\nclass Bare(ReactorModel): ...\n"
    )
    (tmp_path / "reactor.yaml").write_text("runtime: {import: 'bare_model:Bare'}")
    document = render(tmp_path)
    assert not {"paths", "webhooks"} & document.keys()
    assert document["x-reactor"] == {"tracks": []}
    assert list(document["components"]["schemas"]) == ["ReactorUploadReference"]


def test_a_declaration_that_makes_no_sense_is_named(tmp_path: Path) -> None:
    (tmp_path / "wrong_model.py").write_text(
        "from reactor_runtime import ReactorModel, event\n"
        "class Wrong(ReactorModel):\n"
        "    @event\n"
        "    def act(self, array: 'np.ndarray'): ...\n"
    )
    (tmp_path / "reactor.yaml").write_text("runtime: {import: 'wrong_model:Wrong'}")
    with pytest.raises(ModelImportError, match=r"Wrong\.act\(array\).*module level"):
        render(tmp_path)


def test_a_folder_without_a_manifest_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        render(tmp_path)


def test_the_module_writes_the_document(folder: Path) -> None:
    out = folder / "schema.json"
    command = [sys.executable, "-m", "reactor_runtime.schema", "--path", str(folder)]
    done = subprocess.run(
        [*command, "--version", "v2", "--out", str(out)], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert json.loads(out.read_text())["info"]["version"] == "v2"
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == DOCUMENT


def test_the_module_says_in_one_line_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--path", str(tmp_path / "nowhere")]) == 1
    assert main(["--path", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 2
