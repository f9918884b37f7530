"""A job file is read whole or refused with the key that is wrong."""

from pathlib import Path

import pytest

from reactor_runtime.errors import JobSpecError
from reactor_runtime.launcher.contracts import DistributedJob, load_job, parse_job

LEAST = "name: j\nentrypoint: t.py\n"


def test_what_is_left_out_has_a_default() -> None:
    job = parse_job(LEAST, "job.yaml")
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


def test_json_is_read_as_well_and_numbers_become_text() -> None:
    text = '{"name": "j", "entrypoint": "module:a.b", "args": ["--lr", 0.1], "env": {"A": 3}}'
    job = parse_job(text, "job.json")
    assert (job.module, job.args, job.env) == ("a.b", ("--lr", "0.1"), {"A": "3"})


@pytest.mark.parametrize(
    ("more", "key", "words"),
    [
        ("num_worker: 2", "num_worker", "did you mean num_workers?"),
        ("rendezvous: {prt: 1}", "rendezvous.prt", "did you mean port?"),
        ("checkpoint: {path: c, resum: true}", "checkpoint.resum", "did you mean resume?"),
        ("quack: 1", "quack", "known are name, "),
        ("num_workers: 0", "num_workers", "greater than or equal to 1"),
        ("max_attempts: 3", "max_attempts", "distributed jobs are never retried automatically"),
        ("launcher: mpirun", "launcher", "'torchrun'"),
        ("comm_backend: mpi", "comm_backend", "'gloo' or 'nccl'"),
        ("failure_policy: retry", "failure_policy", "'fail_fast'"),
        ("rendezvous: {kind: c10d}", "rendezvous.kind", "c10d gives nodes their ranks by itself"),
        ("rendezvous: {kind: etcd}", "rendezvous.kind", "leave it at static"),
        ("rendezvous: {port: 70000}", "rendezvous.port", "65535"),
        ("env: {MASTER_PORT: 1}", "env", "the launcher sets these itself"),
        ("env: {PET_NNODES: 1}", "env", "PET_NNODES"),
        ("outputs: [../x]", "outputs", "leaves the working directory"),
        ("outputs: ['']", "outputs", "'' is no glob"),
        ("timeout_s: .inf", "timeout_s", "finite"),
        ("comm_timeout_s: .nan", "comm_timeout_s", "finite"),
        ("rendezvous: {join_timeout_s: .inf}", "rendezvous.join_timeout_s", "finite"),
        ("env: {'A=B': 1}", "env", "'A=B' is no name of a variable"),
        ('args: ["a\\0b"]', "args.0", "NUL"),
        ("outputs: [/etc/passwd]", "outputs", "leaves the working directory"),
        ("checkpoint: {path: c, resume: false}", "checkpoint.resume", "True"),
    ],
)
def test_a_mistake_is_named(more: str, key: str, words: str) -> None:
    with pytest.raises(JobSpecError) as caught:
        parse_job(LEAST + more, "job.yaml")
    assert caught.value.key == key
    assert words in str(caught.value)


@pytest.mark.parametrize("entrypoint", ["../t.py", "/t.py", "module:", "module:a b"])
def test_an_entrypoint_stays_in_its_source(entrypoint: str) -> None:
    with pytest.raises(JobSpecError, match="entrypoint"):
        parse_job(f"name: j\nentrypoint: '{entrypoint}'", "job.yaml")


@pytest.mark.parametrize("text", ["", "- 1", "a: [", "{", "name: \tx: y"])
def test_what_is_no_job_at_all(text: str) -> None:
    with pytest.raises(JobSpecError, match=r"job\.yaml"):
        parse_job(text, "job.yaml")


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
    with pytest.raises(JobSpecError, match=r"no folder|no file in"):
        load_job(file)
    with pytest.raises(JobSpecError, match="cannot be read"):
        load_job(tmp_path / "none.yaml")
