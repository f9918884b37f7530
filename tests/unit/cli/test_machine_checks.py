import resource
import socket
import sys
from collections.abc import Iterator

import pytest
from tests.limits import limited

from reactor_runtime.cli.machine_checks import (
    CHECKS,
    Check,
    Finding,
    available_cores,
    check_candidates,
    check_machine,
    check_port,
    check_python,
    check_servers,
    most_threads,
)
from reactor_runtime.settings import ServeSettings, resolve_settings


def settings(**flags: str) -> ServeSettings:
    return resolve_settings("m:M", flags, {}).settings


def of(check: Check, **flags: str) -> list[Finding]:
    return list(check(settings(**flags)))


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_every_check_says_something_and_every_problem_has_a_cure() -> None:
    for check in CHECKS:
        findings = of(check, port="0")
        assert findings
        for finding in findings:
            assert finding.text
            assert not finding.is_problem or finding.cure


def test_python_and_the_packages_are_right_here() -> None:
    assert [finding.cure for finding in of(check_python)] == ["", ""]
    assert sys.executable in of(check_python)[0].text


def test_a_taken_port_says_what_to_do(taken: int) -> None:
    (finding,) = of(check_port, port=str(taken))
    assert finding.is_problem
    assert "in use" in finding.text
    assert "--port" in finding.cure


def test_an_address_that_is_not_ours_says_what_to_do() -> None:
    (finding,) = of(check_port, host="203.0.113.9", port="0")
    assert finding.is_problem
    assert finding.cure == "choose another --host"


def test_an_open_bind_without_a_token_is_told() -> None:
    assert len(of(check_port, host="127.0.0.1", port="0")) == 1
    assert len(of(check_port, host="0.0.0.0", port="0", token="t")) == 1
    _, access = of(check_port, host="0.0.0.0", port="0")
    assert "REACTOR_TOKEN" in access.cure


def test_a_public_address_counts_as_a_candidate() -> None:
    (finding,) = of(check_candidates, public_address="203.0.113.9")
    assert not finding.is_problem
    assert "203.0.113.9" in finding.text


def test_servers_are_asked_only_when_configured() -> None:
    (finding,) = of(check_servers)
    assert "none configured" in finding.text
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    findings = of(
        check_servers, stun=f"stun:127.0.0.1:{port}", turn=f"turn:user:s3cr3t@127.0.0.1:{port}"
    )
    assert [(f.subject, f.is_problem) for f in findings] == [("STUN", True), ("TURN", True)]
    assert "s3cr3t" not in repr(findings)


def test_cores_are_those_this_process_may_use() -> None:
    assert 0 < available_cores() <= 4096


def of_threads() -> Finding:
    return next(finding for finding in of(check_machine) if finding.subject == "threads")


def test_more_threads_than_cores_are_advised_against(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert of_threads().cure == ""
    monkeypatch.setenv("OMP_NUM_THREADS", "100000")
    assert "OMP_NUM_THREADS is 100000" in of_threads().text
    assert "OMP_NUM_THREADS=" in of_threads().cure
    assert not of_threads().is_problem


def test_a_limit_of_few_threads_is_something_to_do() -> None:
    with limited(resource.RLIMIT_NPROC, 100):
        assert most_threads() == 100
        assert of_threads().is_problem
        assert "ulimit -u" in of_threads().cure
