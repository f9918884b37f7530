"""A class written for serving, run headless on every rank of a job: the same film on any number."""

import shutil
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from tests.process.cli import environment
from tests.process.launcher.cluster import soon
from tests.process.launcher.commands import start

pytestmark = [
    pytest.mark.torch,
    pytest.mark.timeout(500),
    pytest.mark.usefixtures("no_command_left"),
]
REPOSITORY = Path(__file__).parents[3]
EXAMPLE = REPOSITORY / "examples" / "launch" / "offline_render.yaml"
MODEL = "tests.models.films_itself:FilmsItself"
COMMANDS = ["--command", "2", "set_hue", '{"hue": 200}', "--turns", "5", "--seed", "11"]


def frames_of(path: Path) -> NDArray[np.uint8]:
    with av.open(str(path)) as film:
        return np.stack([f.to_ndarray(format="rgb24") for f in film.decode(video=0)])


def write_job(folder: Path, *more: str, nodes: int = 2, procs: int = 2) -> Path:
    """Write a job whose source is a model's folder as it would be served."""
    source = folder / "source"
    (source / "tests" / "models").mkdir(parents=True)
    for name in ("films_itself", "parts"):
        shutil.copy(REPOSITORY / "tests" / "models" / f"{name}.py", source / "tests" / "models")
    (source / "reactor.yaml").write_text(f"runtime:\n  import: {MODEL}\n")
    job = folder / "job.yaml"
    job.write_text(
        f"name: film\nsource: source\nnum_workers: {nodes}\nprocs_per_worker: {procs}\n"
        f"entrypoint: module:reactor_runtime.offline\nargs: {[*COMMANDS, *more]}\n"
        "outputs: ['*.mkv']\ncomm_timeout_s: 30\n"
    )
    return job


def test_two_nodes_make_the_film_that_one_process_makes(tmp_path: Path) -> None:
    job = write_job(tmp_path)
    run = start("launch", str(job), cwd=tmp_path)
    out, err = run.communicate(timeout=soon(150))
    assert run.returncode == 0, out + err
    told = "5 turns, 0.2 s, 5 frames of main_video: film.mkv"
    assert out.splitlines() == [f"[film node0 rank0] {told}"]
    films = sorted((tmp_path / "outputs").rglob("*.mkv"))
    assert films == [tmp_path / "outputs" / "film-1" / "node0" / "film.mkv"]

    assert run_alone(tmp_path / "source", *COMMANDS).stdout.rstrip() == told
    one, four = frames_of(tmp_path / "source" / "film.mkv"), frames_of(films[0])
    assert four.shape == (5, 12, 16, 3)
    assert (one == four).all()
    assert four[:, 0, 0, 0].tolist() == [10, 10, 200, 200, 200]


def run_alone(source: Path, *flags: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "reactor_runtime.offline", ".", *flags],
        cwd=source, capture_output=True, text=True, timeout=soon(120), check=False,
        env=environment(),
    )  # fmt: skip


def test_the_example_over_two_nodes_shows_what_one_process_shows(tmp_path: Path) -> None:
    run = start("launch", str(EXAMPLE), cwd=tmp_path)
    out, err = run.communicate(timeout=soon(200))
    assert run.returncode == 0, out + err
    job = yaml.safe_load(EXAMPLE.read_text())
    alone = tmp_path / "alone.mkv"
    flags = [str(word) for word in job["args"][:-1]]
    done = run_alone(EXAMPLE.parent / job["source"], *flags, str(alone))
    assert done.returncode == 0, done.stderr
    shared = tmp_path / "outputs" / "offline_render-1" / "node0" / "diffusion.mkv"
    one, four = frames_of(alone).astype(int), frames_of(shared).astype(int)
    assert one.shape == four.shape == (24, 144, 256, 3)
    assert np.abs(one - four).max() <= 1  # rounding
    assert np.abs(four[11] - four[-1]).mean() > 10  # the prompt was another by then


def test_a_rank_that_raises_is_the_jobs_cause_and_the_turn_is_named(tmp_path: Path) -> None:
    job = write_job(tmp_path, "--command", "3", "set_fail_on", '{"fail_on": 2}')
    run = start("launch", str(job), cwd=tmp_path)
    _, err = run.communicate(timeout=soon(150))
    assert run.returncode == 1
    assert "job film-1 failed: node 1, rank 2 raised ValueError: rank 2 will not" in err
    assert "in turn 3 of an offline run" in err
    films = [p.name for p in (tmp_path / "outputs").rglob("*.mkv")]
    assert films in ([], ["film.part.mkv"])


def test_a_wrong_command_is_refused_on_every_rank(tmp_path: Path) -> None:
    job = write_job(tmp_path, "--command", "0", "set_hue", '{"hue": 300}', nodes=1)
    run = start("launch", str(job), cwd=tmp_path)
    _, err = run.communicate(timeout=soon(150))
    assert run.returncode == 1
    assert "PayloadError: set_hue.hue" in err


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--turns", "1", "--out", "film.mp4"), "film.mp4 must end in .mkv"),
        (("--turns", "1", "--command", "x", "set_hue", "{}"), "--command x set_hue {}"),
        (("--turns", "1", "--commands", "absent.yaml"), "absent.yaml"),
    ],
)
def test_a_mistake_of_the_command_line_is_one_line(
    tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    write_job(tmp_path)
    done = run_alone(tmp_path / "source", *flags)
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
