"""What ranks print, followed in their files: whole lines, tagged, in bounded pieces."""

from pathlib import Path

from reactor_runtime.launcher.node_log import NodeLog


def rank_file(folder: Path, local: int, name: str = "stdout.log") -> Path:
    file = folder / "run" / "attempt_0" / str(local) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def test_lines_are_tagged_with_their_rank_and_come_whole(tmp_path: Path) -> None:
    log, torchrun = NodeLog("job", 1, first_rank=2, procs=2), tmp_path / "torchrun.log"
    expected = "TORCHELASTIC_USE_AGENT_STORE is enabled so ignoring the error"
    torchrun.write_text(f"torchrun says\n{expected}, of every store that is held elsewhere\n")
    rank_file(tmp_path, 0).write_text("one\ntw")
    rank_file(tmp_path, 1, "stderr.log").write_text("three\n")
    assert b"".join(log.poll(tmp_path, torchrun)).splitlines() == [
        b"[job node1 torchrun] torchrun says",
        b"[job node1 rank2] one",
        b"[job node1 rank3] three",
    ]
    with rank_file(tmp_path, 0).open("a") as file:
        file.write("o\nend")
    assert b"".join(log.poll(tmp_path, torchrun)) == b"[job node1 rank2] two\n"
    assert b"".join(log.poll(tmp_path, torchrun, is_last=True)) == b"[job node1 rank2] end\n"


def test_a_flood_comes_in_bounded_pieces_and_is_whole_in_the_end(tmp_path: Path) -> None:
    log, torchrun = NodeLog("job", 0, first_rank=0, procs=1), tmp_path / "torchrun.log"
    line = b"x" * 99 + b"\n"
    rank_file(tmp_path, 0).write_bytes(line * 200_000)  # 20 MB
    first = list(log.poll(tmp_path, torchrun))
    assert max(map(len, first)) < 256 * 1024
    assert sum(map(len, first)) < 8 * 1024**2
    rest = b"".join(log.poll(tmp_path, torchrun, is_last=True))
    assert (b"".join(first) + rest).count(b"[job node0 rank0] " + line) == 200_000


def test_a_line_without_an_end_is_cut_and_lost_nowhere(tmp_path: Path) -> None:
    log, torchrun = NodeLog("job", 0, first_rank=0, procs=1), tmp_path / "torchrun.log"
    rank_file(tmp_path, 0).write_bytes(b"y" * 1_000_000)
    said = b"".join(log.poll(tmp_path, torchrun, is_last=True))
    assert said.count(b"y") == 1_000_000
    assert max(map(len, said.splitlines())) < 128 * 1024 + 32
