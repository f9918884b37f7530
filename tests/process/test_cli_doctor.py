"""``reactor doctor``: every line says ok, or what to do."""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from tests.process.cli import reactor

SUBJECTS = ("Python", "packages", "torch", "cores", "threads", "open files", "shared memory",
            "port", "ICE candidates", "STUN/TURN")  # fmt: skip


def test_every_line_says_ok_or_what_to_do(tmp_path: Path) -> None:
    ran = reactor("doctor", "--port", "0", cwd=tmp_path)
    lines = [line for line in ran.out.splitlines() if "to do" not in line[6:]]
    assert [s for s in SUBJECTS if not any(s in line for line in lines)] == []
    for line in lines:
        assert line.startswith(("ok ", "advice ", "to do ")), line


def test_a_taken_port_is_something_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ran = reactor("doctor", "--port", str(listener.getsockname()[1]), cwd=tmp_path)
    assert ran.status == 1
    (line,) = [line for line in ran.out.splitlines() if "in use" in line]
    assert line.startswith("to do")


def test_the_manifests_settings_count(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        (tmp_path / "reactor.yaml").write_text(f"runtime: {{import: 'm:M', port: {port}}}\n")
        for arguments in ((), (str(tmp_path),)):
            ran = reactor("doctor", *arguments, cwd=tmp_path)
            assert f"{port}: the address is in use" in ran.out


def test_a_configured_server_that_is_not_there_is_something_to_do(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    turn = f"turn:me:s3cr3t@127.0.0.1:{port}"
    ran = reactor("doctor", "--port", "0", cwd=tmp_path, REACTOR_TURN=turn)
    assert ran.status == 1
    assert f"turn:127.0.0.1:{port}" in ran.out
    assert "s3cr3t" not in ran.out + ran.err


def _own_namespace() -> list[str] | None:
    """A prefix that runs a command where only loopback exists; ``None`` where refused."""
    if shutil.which("unshare") is None:
        return None
    prefix = ["unshare", "--map-root-user", "--net"]
    done = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if done.returncode == 0 else None


def test_a_host_with_only_loopback_is_told(tmp_path: Path) -> None:
    prefix = _own_namespace()
    if prefix is None:
        pytest.skip("no network namespaces here")
    ran = reactor("doctor", "--port", "0", "--host", "0.0.0.0", cwd=tmp_path, prefix=prefix)
    assert ran.status == 1
    (line,) = [line for line in ran.out.splitlines() if "ICE candidates" in line]
    assert line.startswith("to do")
    assert "loopback" in line
