"""Manifests: every published form is read, every mistake is one clear line."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactor_runtime.errors import ManifestError
from reactor_runtime.manifest import Manifest, load_config
from reactor_runtime.manifest_sections import RuntimeSection
from reactor_runtime.setting_kinds import Resolution
from reactor_runtime.setting_table import SETTINGS

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def save(content: str | bytes) -> Path:
        path = tmp_path / "reactor.yaml"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return save


def refused(path: Path) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        load_config(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    return caught.value


PUBLISHED = {
    "v2, recording under runtime": """\
        $schema: reactor/v2
        model:
          name: fast
          version: 0.1.0
          public: false
          description: |
            Two lines
            of text.
          resources: {gpu: {type: NVIDIA_B200, count: 8}, memory: {limit: 256Gi}}
        runtime:
          import: fast:Fast
          config: fast.yaml
          weights_path: ./weights
          recording: {enabled: true, chunk_seconds: 4, video: {codec: h264, crf: 23}}
        build: {runtime_version: "3.2.5", system_packages: [git], run: [echo hello]}
        deployment: {instances: [{region: us-west, count: 1}]}
        """,
    "v1, recording at the top": """\
        $schema: reactor/v1
        model: {name: fast, version: 0.1.0}
        runtime: {import: "fast:Fast", config: fast.yaml, weights_path: ./weights}
        recording: {enabled: true, chunk_seconds: 4, clip_max_seconds: 300, video_track: main_video}
        """,
    "api version and kind": """\
        apiVersion: v1beta
        kind: VideoModel
        metadata: {labels: {team: x}}
        model: {name: fast, version: 0.1.0}
        runtime: {import: fast:Fast, config: fast.yaml, weights_path: ./weights}
        recording:
          enabled: true
          chunk_seconds: 4.0
        """,
}


@pytest.mark.parametrize("text", PUBLISHED.values(), ids=PUBLISHED.keys())
def test_every_published_form_is_read(write: Write, text: str) -> None:
    manifest = load_config(write("\n".join(line[8:] for line in text.splitlines())))
    assert manifest.model_ref == "fast:Fast"
    assert manifest.config_path == manifest.folder / "fast.yaml"
    assert manifest.weights_path == manifest.folder / "weights"
    assert (manifest.name, manifest.version) == ("fast", "0.1.0")
    assert (manifest.recording.enabled, manifest.recording.chunk_seconds) == (True, 4.0)


RECORDED = """\
recording:
  enabled: yes
  chunk_seconds: 4
  clip_max_seconds: 60
  video_track: main_video
  audio_track: voice
  video: {codec: H264, crf: 18}
  audio: {codec: opus, bitrate: 96k}
"""


@pytest.mark.parametrize("is_top", [True, False], ids=["at the top", "under runtime"])
def test_every_key_of_a_recording_is_read_in_both_places(write: Write, is_top: bool) -> None:
    inner = "".join(f"  {line}\n" for line in RECORDED.splitlines())
    text = "runtime:\n  import: a:B\n" + (RECORDED if is_top else inner)
    recording = load_config(write(text)).recording
    assert recording.model_dump() == {
        "enabled": True,
        "chunk_seconds": 4.0,
        "clip_max_seconds": 60.0,
        "video_track": "main_video",
        "audio_track": "voice",
        "video": {"codec": "h264", "crf": 18},
        "audio": {"codec": "opus", "bitrate": 96_000},
    }


@pytest.mark.parametrize("is_top", [True, False], ids=["at the top", "under runtime"])
def test_a_near_miss_in_a_recording_is_an_error(write: Write, is_top: bool) -> None:
    place = "" if is_top else "runtime."
    for line, meant in (
        ("recording: {chunk_second: 4}", "recording.chunk_seconds"),
        ("recording: {video: {codecs: h264}}", "recording.video.codec"),
    ):
        text = f"runtime:\n  import: a:B\n{'' if is_top else '  '}{line}\n"
        error = refused(write(text))
        assert error.wanted == f"a known one: {place}{meant}?"
        assert error.line == 3


def test_only_the_import_is_required(write: Write) -> None:
    manifest = load_config(write("runtime:\n  import: reactor.app:World\n"))
    assert manifest.model_ref == "reactor.app:World"
    assert manifest.config_path is None
    assert manifest.name is None
    assert manifest.recording.enabled is None


def test_a_folder_means_the_manifest_in_it(write: Write) -> None:
    path = write("runtime: {import: 'a:B'}")
    assert load_config(path.parent).path == path
    assert load_config(str(path)).folder == path.parent


def test_ranks_are_never_derived_from_the_number_of_gpus(write: Write) -> None:
    text = "model: {resources: {gpu: {count: 8}}}\nruntime: {import: 'a:B'}\n"
    assert load_config(write(text)).runtime.world_size is None


def test_keys_the_runtime_does_not_know_are_ignored_and_told(write: Write) -> None:
    manifest = load_config(write("build: {a: 1}\nruntime: {import: 'a:B', cuda_graphs: yes}\n"))
    assert manifest.ignored == ("build", "runtime.cuda_graphs")


def test_every_setting_that_belongs_in_a_manifest_has_its_key() -> None:
    keys = set(RuntimeSection.model_fields) - {
        "import_", "config", "weights_path", "env", "recording",
    }  # fmt: skip
    assert keys == {setting.label for setting in SETTINGS if setting.in_manifest}


RIGHT_VALUES: dict[str, tuple[str, Any]] = {
    "world_size": ("2", 2),
    "workers": ("2.0", 2),
    "check_lockstep": ("no", False),
    "oversubscribe": ("Yes", True),
    "init_process_group": ("off", False),
    "turn_timeout": ("0", 0.0),
    "load_timeout": ("1e3", 1000.0),
    "port": ("0", 0),
    "device": ("cuda:1", "cuda:1"),
    "bitrate": ("4M", 4_000_000),
    "max_bitrate": ("800k", 800_000),
    "max_upload": ("2G", 2 << 30),
    "min_free_disk": ("100k", 100 << 10),
    "max_resolution": ("1280x720", Resolution(width=1280, height=720)),
    "max_fps": ("29.97", 29.97),
    "host": ("0.0.0.0", "0.0.0.0"),
    "settle_timeout": ("~", None),
    "comm_timeout": ("", None),
}


@pytest.mark.parametrize(("key", "written"), [(k, v[0]) for k, v in RIGHT_VALUES.items()])
def test_the_key_decides_what_a_value_means(write: Write, key: str, written: str) -> None:
    manifest = load_config(write(f"runtime:\n  import: a:B\n  {key}: {written}\n"))
    value = getattr(manifest.runtime, key)
    assert value == RIGHT_VALUES[key][1]
    assert type(value) is type(RIGHT_VALUES[key][1])


def test_text_stays_the_text_that_was_written(write: Write) -> None:
    text = "model: {name: no, version: 1.10, description: 0x1f}\nruntime: {import: 'a:B'}\n"
    manifest = load_config(write(text))
    assert (manifest.name, manifest.version, manifest.description) == ("no", "1.10", "0x1f")


def test_environment_values_stay_the_text_that_was_written(write: Write) -> None:
    text = 'runtime: {import: "a:B", env: {A: 0.10, B: no, C: "x y", D: 012, E: }}\n'
    assert load_config(write(text)).runtime.env == {
        "A": "0.10", "B": "no", "C": "x y", "D": "012", "E": "",
    }  # fmt: skip


WRONG_VALUES = {
    "port as text": ('port: "8080"', "runtime.port", "'8080'", "without quotes"),
    "port too large": ("port: 70000", "runtime.port", "70000", "from 0 to 65535"),
    "sexagesimal port": ("port: 22:22", "runtime.port", "22:22", "whole number"),
    "fraction for a whole number": ("world_size: 2.5", "runtime.world_size", "2.5", "whole"),
    "zero ranks": ("world_size: 0", "runtime.world_size", "0", "from 1"),
    "true for a number": ("world_size: true", "runtime.world_size", "true", "whole number"),
    "quoted switch": ('check_lockstep: "no"', "runtime.check_lockstep", "'no'", "without quotes"),
    "number for a switch": ("check_lockstep: 2", "runtime.check_lockstep", "2", "true or false"),
    "not a number": ("turn_timeout: .nan", "runtime.turn_timeout", ".nan", "seconds"),
    "infinity": ("turn_timeout: .inf", "runtime.turn_timeout", ".inf", "seconds"),
    "overflow": ("turn_timeout: 1e999", "runtime.turn_timeout", "1e999", "seconds"),
    "negative": ("turn_timeout: -1", "runtime.turn_timeout", "-1", "seconds"),
    "list": ("world_size: [1, 2]", "runtime.world_size", "a list", "whole number"),
    "mapping": ("device: {a: 1}", "runtime.device", "a mapping", "cpu"),
    "unknown word": ("on_failure: retry", "runtime.on_failure", "retry", "keep, exit, restart"),
    "unknown device": ("device: gpu", "runtime.device", "gpu", "cuda:<n>"),
    "list for a mapping": ("env: [A=1]", "runtime.env", "a list", "a mapping"),
    "bad variable name": ("env: {1A: x}", "runtime.env", "'1A'", "letters"),
    "nested variable": ("env: {A: [x]}", "runtime.env", "a list for A", "text"),
    "bad size": ("max_resolution: 720p", "runtime.max_resolution", "720p", "1280x720"),
    "empty text": ('config: ""', "runtime.config", "''", "a path"),
    "recording switch": ("recording: true", "runtime.recording", "true", "a mapping"),
    "chunk too long": (
        "recording: {chunk_seconds: 61}",
        "runtime.recording.chunk_seconds",
        "61",
        "0.1 to 60",
    ),
    "chunk of nothing": (
        "recording: {chunk_seconds: 0}",
        "runtime.recording.chunk_seconds",
        "0",
        "0.1 to 60",
    ),
    "recorded codec": (
        "recording: {video: {codec: hevc}}",
        "runtime.recording.video.codec",
        "hevc",
        "h264",
    ),
    "recorded quality": (
        "recording: {video: {crf: 52}}",
        "runtime.recording.video.crf",
        "52",
        "from 0 to 51",
    ),
    "recorded sound": (
        "recording: {audio: {codec: mp3}}",
        "runtime.recording.audio.codec",
        "mp3",
        "aac, opus",
    ),
    "recording value": ("recording: {enabled: 4}", "runtime.recording.enabled", "4", "true or"),
}


@pytest.mark.parametrize(("line", "key", "found", "wanted"), WRONG_VALUES.values(),
                         ids=WRONG_VALUES.keys())  # fmt: skip
def test_a_wrong_value_names_key_line_found_and_wanted(
    write: Write, line: str, key: str, found: str, wanted: str
) -> None:
    error = refused(write(f"runtime:\n  import: a:B\n  {line}\n"))
    assert error.key == key
    assert error.line == 3
    assert found in error.found
    assert wanted in error.wanted


NEAR_MISSES = {
    "runtime:\n  import: a:B\n  worldsize: 2\n": ("runtime.worldsize", "runtime.world_size", 3),
    "runtime:\n  import: a:B\n  world-size: 2\n": ("runtime.world-size", "runtime.world_size", 3),
    "runtime:\n  import: a:B\n  onFailure: exit\n": ("runtime.onFailure", "runtime.on_failure", 3),
    "runtime:\n  Import: a:B\n": ("runtime.Import", "runtime.import", 2),
    "runtimes:\n  import: a:B\n": ("runtimes", "runtime", 1),
    "model:\n  nmae: x\nruntime:\n  import: a:B\n": ("model.nmae", "model.name", 2),
    "world_size: 2\nruntime:\n  import: a:B\n": ("world_size", "runtime.world_size", 1),
    "recording:\n  enable: true\nruntime:\n  import: a:B\n": (
        "recording.enable", "recording.enabled", 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_near_miss_of_a_known_key_is_an_error_with_a_suggestion(write: Write, text: str) -> None:
    key, meant, line = NEAR_MISSES[text]
    error = refused(write(text))
    assert (error.key, error.line) == (key, line)
    assert meant in error.wanted


def test_a_secret_does_not_belong_in_a_file(write: Write) -> None:
    error = refused(write("runtime:\n  import: a:B\n  token: s3cr3t\n"))
    assert "REACTOR_TOKEN" in error.wanted
    assert "s3cr3t" not in str(error)


def test_recording_in_both_places_is_an_error(write: Write) -> None:
    text = "runtime: {import: 'a:B', recording: {enabled: no}}\nrecording: {enabled: yes}\n"
    assert refused(write(text)).key == "recording"


@pytest.mark.parametrize(
    "reference",
    ["model", "model.Class", "model.py:Class", "a/b:C", "a:b:C", "a: B", "1a:B", "a:class"],
)
def test_an_import_of_another_form_is_an_error(write: Write, reference: str) -> None:
    error = refused(write(f"runtime:\n  import: '{reference}'\n"))
    assert (error.key, error.line) == ("runtime.import", 2)
    assert "module:Class" in error.wanted


BROKEN_FILES: dict[str, tuple[str | bytes, str, str]] = {
    "empty": ("", "empty file", "runtime.import"),
    "only comments": ("# nothing\n\n", "empty file", "runtime.import"),
    "null document": ("---\n~\n", "empty file", "runtime.import"),
    "list": ("- a\n- b\n", "a list", "a mapping"),
    "word": ("hello", "hello", "a mapping"),
    "no runtime": ("model: {name: x}\n", "nothing", "module:Class"),
    "empty runtime": ("runtime:\n", "nothing", "module:Class"),
    "runtime is a list": ("runtime:\n  - import: a:B\n", "a list", "a mapping"),
    "runtime is text": ("runtime: a:B\n", "a:B", "a mapping"),
    "model is text": ("model: x\nruntime: {import: 'a:B'}\n", "x", "a mapping"),
    "empty import": ("runtime: {import: }\n", "nothing", "module:Class"),
    "duplicate key": ("runtime: {import: 'a:B'}\nruntime: {import: 'c:D'}\n", "a second", "once"),
    "nested duplicate": ("runtime:\n  import: a:B\n  import: c:D\n", "line 2", "once"),
    "tab": ("runtime:\n\timport: a:B\n", "a tab", "spaces"),
    "not YAML": ("runtime: {import: 'a:B'\n", "bad YAML", "valid YAML"),
    "too shallow": (
        "runtime:\n  import: a:B\n world_size: 2\n",
        "'world_size' indented unlike the keys around it", "exactly under one another",
    ),
    "too deep": (
        "runtime:\n  import: a:B\n    world_size: 2\n",
        "'world_size' where no key can stand", "exactly under one another",
    ),
    "two colons": (
        "runtime:\n  import: a: B\n",
        "'import: a' where no key can stand", "quotes around text with a colon",
    ),
    "two documents": ("runtime: {import: 'a:B'}\n---\nx: 1\n", "second document", "one"),
    "python tag": ("runtime: !!python/object/apply:os.system ['true']\n", "the tag", "tags"),
    "own tag": ("runtime: {import: !x 'a:B'}\n", "the tag", "without tags"),
    "complex key": ("? [a, b]\n: c\n", "a key", "words"),
    "unknown alias": ("runtime: *nowhere\n", "nowhere", "anchor"),
    "alias of itself": ("runtime: &a {import: *a}\n", "itself", "anchor"),
    "not UTF-8": (b"runtime:\n  import: a:\xff\n", "0xff", "UTF-8"),
    "UTF-16": ("runtime: {import: 'a:B'}".encode("utf-16"), "UTF-8", "UTF-8"),
    "NUL": (b"runtime: \x00\n", "the character U+0000", "printable"),
    "escape character": (b"runtime: \x1b[31m\n", "the character U+001B", "printable"),
    "deep": ("[" * 5000, "levels", "flatter"),
    "deep blocks": ("- " * 5000, "levels", "flatter"),
    "huge": ("#" * 300_000, "256 KiB", "few lines"),
    "many values": ("x: [" + "1," * 30_000 + "]", "20000 values", "few lines"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "found", "wanted"), BROKEN_FILES.values(),
                         ids=BROKEN_FILES.keys())  # fmt: skip
def test_a_broken_file_is_one_clear_line(
    write: Write, content: str | bytes, found: str, wanted: str
) -> None:
    error = refused(write(content))
    assert found in error.found
    assert wanted in error.wanted


def test_a_byte_order_mark_and_windows_line_ends_are_fine(write: Write) -> None:
    assert load_config(write("\ufeffruntime:\r\n  import: a:B\r\n")).model_ref == "a:B"


def test_anchors_aliases_and_merges_of_ordinary_size_are_fine(write: Write) -> None:
    text = """\
base: &base
  device: cpu
  turn_timeout: 5
runtime:
  <<: *base
  import: a:B
  turn_timeout: 6
"""
    runtime = load_config(write(text)).runtime
    assert (runtime.device, runtime.turn_timeout) == ("cpu", 6.0)


def laughs(levels: int, width: int) -> str:
    lines = ["a0: &a0 lol"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]")
    return "\n".join([*lines, "runtime: {import: 'a:B'}"])


@pytest.mark.parametrize(
    "content", [laughs(10, 10), laughs(4, 400), laughs(1000, 1000)], ids=["deep", "wide", "10 MB"]
)
def test_aliases_that_explode_cost_an_error_and_a_moment(write: Write, content: str) -> None:
    path = write(content)
    started = time.monotonic()
    refused(path)
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("name", ["nowhere.yaml", "nowhere", "~nobody-here/x", "a\0b", "x" * 5000])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(ManifestError) as caught:
        load_config(name if name.startswith("~") else tmp_path / name)
    assert name[:20].replace("\0", "") in caught.value.path.replace("\0", "")


def test_what_names_the_form_of_a_manifest_is_not_ignored(write: Write) -> None:
    text = "$schema: reactor/v2\nbuild: {}\nruntime: {import: 'a:B'}\n"
    assert load_config(write(text)).ignored == ("build",)


def test_a_folder_without_a_manifest_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="reactor init"):
        load_config(tmp_path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    loop = tmp_path / "reactor.yaml"
    loop.symlink_to(loop)
    with pytest.raises(ManifestError) as caught:
        load_config(loop)
    assert str(loop) in caught.value.path


# --- whatever is in the file, a ManifestError is all that comes out ----------------------------

_KEYS = st.sampled_from(
    ["runtime", "model", "recording", "import", "config", "env", "name", "world_size", "device",
     "port", "enabled", "max_resolution", "$schema", "<<", "path", "lines"]
)  # fmt: skip
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["a:B", "cpu", "1280x720", "no", "4M", "../x.yaml", "~x", "keep"])
    | st.dates()
    | st.binary(max_size=5)
)
_TREES = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(_KEYS | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)


def read_whatever(path: Path) -> None:
    try:
        manifest = load_config(path)
    except ManifestError:
        return
    assert isinstance(manifest, Manifest)
    assert ":" in manifest.model_ref
    assert manifest.config_path is None or manifest.config_path.is_absolute()


@settings(max_examples=150, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(tree=st.dictionaries(_KEYS, _TREES, max_size=5))
def test_arbitrary_trees_raise_nothing_else(tmp_path: Path, tree: dict[str, Any]) -> None:
    path = tmp_path / "reactor.yaml"
    path.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8", errors="replace")
    read_whatever(path)


@settings(max_examples=150, deadline=None,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(
    content=st.binary(max_size=200)
    | st.text(alphabet="rna:BC{}[]&*-?!|>'\"#%@\t\n <~,", max_size=80).map(str.encode)
)
def test_arbitrary_bytes_raise_nothing_else(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "reactor.yaml"
    path.write_bytes(content)
    read_whatever(path)


def test_a_python_file_is_told_from_a_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bands").mkdir()
    for file, model in (("my_flow.py", "my_flow:MyFlow"), ("bands/flow.py", "bands.flow:Flow")):
        Path(file).write_text("class Flow: ...\n")
        error = refused(Path(file))
        assert error.found == "a Python file"
        assert model in error.wanted
        assert "a folder with a reactor.yaml" in error.wanted
