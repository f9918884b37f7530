"""The page's modules: their own tests run in node, their frames are read by the real protobuf."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from reactor_runtime.http.page_routes import PAGE_FOLDER
from reactor_runtime.wire import reactor_pb2 as pb

TESTS = Path(__file__).parent / "page"
NODE = shutil.which("node")
MAX_LINES = 400

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where node takes .js files for modules: the page, and its tests beside it."""
    folder = tmp_path_factory.mktemp("page")
    shutil.copytree(PAGE_FOLDER, folder / "page")
    for test in TESTS.glob("*.js"):
        shutil.copy(test, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def run_node(folder: Path, *arguments: str, stdin: str = "") -> str:
    assert NODE is not None
    done = subprocess.run(
        [NODE, *arguments], cwd=folder, input=stdin, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@needs_node
@pytest.mark.parametrize("name", sorted(path.name for path in TESTS.glob("*.test.js")))
def test_the_modules_pass_their_own_tests(workshop: Path, name: str) -> None:
    run_node(workshop, "--test", name)


ENCODE = """
import { encodeCommand, encodeControl } from "./page/wire.js";
const upload = { upload_id: "u1", name: "a.png", mime_type: "image/png", size: 5000000000 };
const body = { path: [[0, 1.5], []], on: false, who: null, n: { x: "ü" } };
const frames = [
  encodeCommand("data_1", "set_path", body),
  encodeCommand("data_2", "set_image", {}, { image: upload }),
  encodeControl("ctrl_1", "publish_track", { name: "webcam" }),
  encodeControl("", "resume_track", { name: "main_video" }),
  encodeControl("", "file_uploaded", { upload }),
  encodeControl("", "ping"),
  encodeControl("ctrl_2", "request_clip", { seconds: 2.5 }),
];
console.log(JSON.stringify(frames.map((frame) => Buffer.from(frame).toString("hex"))));
"""


@needs_node
def test_what_the_page_says_is_what_the_server_reads(workshop: Path) -> None:
    frames = [bytes.fromhex(x) for x in json.loads(run_node(workshop, "-", stdin=_module(ENCODE)))]
    commands = [pb.DataClientMessage.FromString(frame) for frame in frames[:2]]
    controls = [pb.ControlClientMessage.FromString(frame) for frame in frames[2:]]
    assert [(each.request_id, each.kind) for each in commands] == [("data_1", 1), ("data_2", 1)]
    assert MessageToDict(commands[0].command.data) == {
        "path": [[0, 1.5], []],
        "on": False,
        "who": None,
        "n": {"x": "ü"},
    }
    assert commands[1].command.uploads["image"].size == 5_000_000_000
    assert [each.WhichOneof("payload") for each in controls] == [
        "publish_track",
        "resume_track",
        "file_uploaded",
        "ping",
        "request_clip",
    ]
    assert [each.kind for each in controls] == [1, 3, 3, 3, 1]
    assert controls[4].request_clip.duration_seconds == 2.5
    assert controls[0].publish_track.name == "webcam"
    assert controls[2].file_uploaded.mime_type == "image/png"


DECODE = """
import { decodeControl, decodeData } from "./page/wire.js";
const frames = FRAMES.map((hex) => new Uint8Array(Buffer.from(hex, "hex")));
const read = [decodeData(frames[0]), decodeData(frames[1]), ...frames.slice(2).map(decodeControl)];
console.log(JSON.stringify(read));
"""


@needs_node
def test_what_the_server_says_is_what_the_page_reads(workshop: Path) -> None:
    body: dict[str, Any] = {"text": "hi", "list": [1, {"deep": None}], "yes": True, "n": -2.5}
    reply = pb.DataServerMessage(request_id="data_1", kind=2)
    reply.message.type = "echoed"
    reply.message.data.update(body)
    refusal = pb.DataServerMessage(request_id="data_2", kind=2)
    refusal.error.code, refusal.error.message = "too_early", "später"
    ended = pb.ControlServerMessage(kind=3)
    ended.session_ended.reason = "stopped"
    clip = pb.ControlServerMessage(request_id="ctrl_2", kind=2)
    clip.clip_ready.session_id, clip.clip_ready.kind = "r", "snap"
    clip.clip_ready.start_marker, clip.clip_ready.end_marker = 0.5, 3.25
    clip.clip_ready.predicted_ready_at_ms = 1_700_000_000_123
    none = pb.ControlServerMessage(request_id="ctrl_3", kind=2)
    none.clip_failed.reason = "no media generated yet"
    said = (reply, refusal, ended, clip, none)
    frames = [each.SerializeToString().hex() for each in said]
    script = DECODE.replace("FRAMES", json.dumps(frames))
    read = json.loads(run_node(workshop, "-", stdin=_module(script)))
    assert [(each["requestId"], each["type"]) for each in read] == [
        ("data_1", "message"),
        ("data_2", "error"),
        ("", "session_ended"),
        ("ctrl_2", "clip_ready"),
        ("ctrl_3", "clip_failed"),
    ]
    assert read[0]["body"] == {"name": "echoed", "body": body}
    assert read[1]["body"] == {"code": "too_early", "message": "später"}
    assert read[2]["body"] == {"reason": "stopped"}
    assert read[3]["body"] == {
        "session_id": "r",
        "kind": "snap",
        "start_marker": 0.5,
        "end_marker": 3.25,
        "now_marker": 0,
        "predicted_ready_at_ms": 1_700_000_000_123,
        "playlist_url": "",
    }
    assert read[4]["body"] == {"reason": "no media generated yet"}


PEER = """
import { Peer } from "./page/peer.js";
const channels = {};
globalThis.RTCPeerConnection = class {
  createDataChannel(label) { return (channels[label] = { label }); }
  close() {}
};
const peer = new Peer(null, "", [], []);
for (const [label, hex] of FRAMES) {
  const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
  channels[label].onmessage({ data: bytes.buffer });
}
console.log(JSON.stringify(peer.ending));
"""


@needs_node
@pytest.mark.parametrize(
    ("code", "told"), [("internal_error", "the session failed: X"), ("message_too_large", "")]
)
def test_what_is_said_before_an_end_is_its_detail_if_it_ends_anything(
    workshop: Path, code: str, told: str
) -> None:
    error = pb.DataServerMessage(kind=3)
    error.error.code, error.error.message = code, "the session failed: X"
    ended = pb.ControlServerMessage(kind=3)
    ended.session_ended.reason = "stopped"
    frames = [("data", error), ("control", ended)]
    said = [[label, frame.SerializeToString().hex()] for label, frame in frames]
    script = PEER.replace("FRAMES", json.dumps(said))
    ending = json.loads(run_node(workshop, "-", stdin=_module(script)))
    assert ending == {"ended": True, "reason": "stopped", "detail": told}


def _module(script: str) -> str:
    """Standard input is no module in every node; what it imports while it runs always is one."""
    names = re.findall(r'import \{ ([^}]+) \} from "([^"]+)";', script)
    loads = "".join(f'const {{ {what} }} = await import("{where}");\n' for what, where in names)
    body = re.sub(r"import \{.*\n", "", script)
    return f"(async () => {{\n{loads}{body}\n}})();"


@pytest.mark.parametrize("path", sorted(PAGE_FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_file_of_the_page_is_short_and_asks_for_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MAX_LINES
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}[^\s\"')]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_every_file_of_the_page_is_asked_for_by_another() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in PAGE_FOLDER.iterdir()}
    texts["index.html"] = re.sub(r'.*rel="modulepreload".*', "", texts["index.html"])
    for name in texts.keys() - {"index.html"}:
        assert any(name in text for other, text in texts.items() if other != name), name


def test_every_module_is_fetched_at_once() -> None:
    index = (PAGE_FOLDER / "index.html").read_text(encoding="utf-8")
    preloaded = set(re.findall(r'rel="modulepreload" href="page/([a-z_]+\.js)"', index))
    assert preloaded == {path.name for path in PAGE_FOLDER.glob("*.js")} - {"main.js"}
