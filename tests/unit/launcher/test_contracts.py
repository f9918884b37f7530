"""A job file is read whole or refused with the line and key that are wrong."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reactor_runtime.errors import JobSpecError
from reactor_runtime.launcher.contracts import DistributedJob, load_job

LEAST = "name: j\nentrypoint: t.py\n"
Read = Callable[[str], DistributedJob]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Read a text as the job file ``job.yaml``."""
    monkeypatch.chdir(tmp_path)
    Path("t.py").touch()

    def load(text: str) -> DistributedJob:
        Path("job.yaml").write_text(text, encoding="utf-8")
        return load_job(Path("job.yaml"))[0]

    return load


def test_what_is_left_out_has_a_default(read: Read) -> None:
    job = read(LEAST)
    assert job == DistributedJob(
        name="j",
        num_workers=1,
        procs_per_worker=1,
        launcher="torchrun",
        comm_backend="gloo",
        entrypoint="t.py",
        failure_policy="fail_fast",
        max_attempts=1,
    )
    assert (job.rendezvous.kind, job.rendezvous.port) == ("static", None)
    assert job.attempts_allowed == 1


def test_json_is_read_as_well_and_numbers_become_text(read: Read) -> None:
    tree = {"name": "j", "entrypoint": "module:a.b", "args": ["--lr", 0.1, "\U0001f98a"]}
    for indent in (None, "\t"):
        job = read(json.dumps({**tree, "env": {"A": 3}}, indent=indent))
        assert (job.module, job.args) == ("a.b", ("--lr", "0.1", "\U0001f98a"))
        assert job.env == {"A": "3"}


def test_what_is_text_is_taken_as_it_was_written(read: Read) -> None:
    job = read(LEAST.replace("j", "07") + "args: [no, 1.10, 0x10, '']\nlabels: {rack: 1_0}")
    assert (job.name, job.args) == ("07", ("no", "1.10", "0x10", ""))
    assert job.labels == {"rack": "1_0"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("num_worker: 2", "num_worker: found an unknown key; wanted a known one: num_workers?"),
        ("rendezvous: {prt: 1}", "found an unknown key; wanted a known one: rendezvous.port?"),
        ("checkpoint: {path: c, resum: true}", "wanted a known one: checkpoint.resume?"),
        ("quack: 1", "quack: found an unknown key; wanted one of name, num_workers, "),
        ("num_workers: 0", "num_workers: found 0; wanted 1 or more"),
        ("num_workers: two", "num_workers: found two; wanted a whole number"),
        ("num_workers:", "num_workers: found nothing; wanted a whole number"),
        ("max_attempts: 3", "wanted 1: distributed jobs are never retried automatically"),
        ("launcher: mpirun", "launcher: found mpirun; wanted torchrun"),
        ("comm_backend: mpi", "comm_backend: found mpi; wanted gloo or nccl"),
        ("failure_policy: retry", "failure_policy: found retry; wanted fail_fast"),
        ("rendezvous: {kind: c10d}", "rendezvous.kind: found c10d; wanted static: c10d gives "),
        ("rendezvous: {kind: etcd}", "rendezvous.kind: found etcd; wanted static"),
        ("rendezvous: {port: 70000}", "rendezvous.port: found 70000; wanted 65535 or less"),
        ("rendezvous: 3", "rendezvous: found 3; wanted a mapping"),
        ("env: {MASTER_PORT: 1}", "found MASTER_PORT; wanted it left out: the launcher sets"),
        ("env: {PET_NNODES: 1}", "found PET_NNODES; wanted it left out"),
        ("env: {'A=B': 1}", "env: found the name 'A=B'; wanted names that a variable can have"),
        ("env: {A: [1]}", "env.A: found a list; wanted text"),
        ("args: 3", "args: found 3; wanted a list"),
        ('args: ["a\\0b"]', "args[0]: found a NUL byte; wanted text that can be passed"),
        ("outputs: [../x]", "found '../x'; wanted a glob that stays in the working directory"),
        ("outputs: [/etc/passwd]", "found '/etc/passwd'; wanted a glob that stays in"),
        ("outputs: ['']", "outputs: found '' ("),
        ("timeout_s: inf", "timeout_s: found inf; wanted a finite number"),
        ("timeout_s: .inf", "timeout_s: found .inf; wanted a number"),
        ("comm_timeout_s: .nan", "comm_timeout_s: found .nan; wanted a number"),
        ("timeout_s: 0", "timeout_s: found 0; wanted more than 0"),
        ("rendezvous: {join_timeout_s: inf}", "join_timeout_s: found inf; wanted a finite number"),
        ("checkpoint: {path: c, resume: false}", "checkpoint.resume: found false; wanted true"),
        ("checkpoint: {path: c}", "checkpoint.resume: found nothing; wanted a value"),
        ("entrypoint: u.py", "found a second 'entrypoint' (the first is on line 2)"),
    ],
)
def test_a_mistake_is_found_on_its_line(read: Read, more: str, words: str) -> None:
    with pytest.raises(JobSpecError) as caught:
        read(LEAST + more)
    assert str(caught.value).startswith("job.yaml, line 3: ")
    assert words in str(caught.value)


def test_what_is_missing_has_no_line(read: Read) -> None:
    with pytest.raises(JobSpecError) as caught:
        read("name: j")
    assert str(caught.value) == "job.yaml: entrypoint: found nothing; wanted a value"


@pytest.mark.parametrize("entrypoint", ["../t.py", "/t.py", "module:", "module:a b"])
def test_an_entrypoint_stays_in_its_source(read: Read, entrypoint: str) -> None:
    with pytest.raises(JobSpecError, match=r"job\.yaml, line 2: entrypoint: found .*; wanted "):
        read(f"name: j\nentrypoint: '{entrypoint}'")


@pytest.mark.parametrize("name", ["''", "a/b", "-a", "a" * 64, '"a\\n"'])
def test_a_name_can_be_a_files(read: Read, name: str) -> None:
    with pytest.raises(JobSpecError, match=r"line 1: name: found .*; wanted 1 to 63 letters"):
        read(f"name: {name}\nentrypoint: t.py")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "an empty file"),
        ("- 1", "a list"),
        ("a: [", "bad YAML"),
        ("{", "bad YAML"),
        ("name: \tx: y", "a tab"),
        ("name: !!python/name:os.system", "the tag"),
        ("a: &a [*a]", "inside itself"),
        (f"args: [{'1, ' * 100_000}]", "more than 256 KiB"),
    ],
)
def test_what_is_no_job_at_all(read: Read, text: str, found: str) -> None:
    with pytest.raises(JobSpecError, match=rf"job\.yaml.*found .*{found}.*; wanted"):
        read(text)


def test_a_file_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "t.py").touch()
    file = tmp_path / "job.yaml"
    file.write_text(LEAST + "source: code")
    job, folder = load_job(file)
    assert (job.entrypoint, folder) == ("t.py", tmp_path / "code")


@pytest.mark.parametrize("more", ["", "source: nowhere"])
def test_a_missing_source_or_script_is_found_before_anything_starts(
    tmp_path: Path, more: str
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(LEAST + more)
    with pytest.raises(JobSpecError, match=r"line [23]: .*no (folder|file in)"):
        load_job(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JobSpecError, match=r"none\.yaml: found no such file; wanted a job file"):
        load_job(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("module", "is_here"),
    [
        ("train", True),
        ("kit", True),
        ("kit.deep.run", True),
        ("loose.run", True),
        ("beside", True),
        ("outside", True),
        ("reactor_runtime.offline", True),
        ("pie", False),
        ("kit.pie", False),
    ],
)
def test_a_module_is_looked_for_where_the_job_runs(
    tmp_path: Path, module: str, is_here: bool
) -> None:
    kit = ("kit/__init__.py", "kit/deep/__init__.py", "kit/deep/run.py")
    for name in ("train.py", *kit, "lib/beside.py", "../far/outside.py"):
        (tmp_path / "job" / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / "job" / name).write_text("raise SystemExit('nothing of it is run')")
    (tmp_path / "job" / "loose").mkdir()
    (tmp_path / "job" / "loose" / "run.py").touch()
    file = tmp_path / "job" / "job.yaml"
    path = f"lib:{tmp_path / 'far'}"
    file.write_text(f"name: j\nentrypoint: module:{module}\nenv: {{PYTHONPATH: '{path}'}}")
    assert load_job(file)[0].module == module  # other machines may have it
    if is_here:
        load_job(file, runs_here=True)
        return
    with pytest.raises(JobSpecError, match=r"line 2: entrypoint: found .* nor installed; wanted"):
        load_job(file, runs_here=True)


def test_a_served_class_is_no_entrypoint_and_the_way_to_run_it_is_said(read: Read) -> None:
    with pytest.raises(JobSpecError, match=r"runs by module:reactor_runtime\.offline"):
        read("name: j\nentrypoint: pie:Pie")
