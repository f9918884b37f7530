"""Two network namespaces joined by a cable: what is right on one host can be wrong on two."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.e2e.process_figures import listening
from tests.process.launcher.cluster import Cluster, bearing, soon, wait_for

pytestmark = [pytest.mark.torch, pytest.mark.timeout(500)]
ID = f"{os.getpid() % 10000:04d}"
NAMES = (f"rr{ID}a", f"rr{ID}b")
CABLE = ("rrva", "rrvb")
OUTSIDE = f"10.{128 + os.getpid() % 100}"  # another test run may have its own at the same time


def ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"ip {' '.join(words)}: {done.stderr.strip()}")


def cable(name: str, number: int) -> None:
    """Join the namespace *name* to this one, for what it says to the control plane."""
    mine, theirs = f"c{number}{ID}", f"rrc{number}"
    ip("link", "add", mine, "type", "veth", "peer", "name", theirs, "netns", name)
    ip("addr", "add", f"{OUTSIDE}.{number}.1/30", "dev", mine)
    ip("link", "set", mine, "up")
    ip("-n", name, "addr", "add", f"{OUTSIDE}.{number}.2/30", "dev", theirs)
    ip("-n", name, "link", "set", theirs, "up")


@contextlib.contextmanager
def machines() -> Iterator[None]:
    if os.getuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2")
    try:
        for name in NAMES:
            ip("netns", "add", name)
            hosts = Path("/etc/netns", name, "hosts")  # ip lays it over /etc/hosts there
            hosts.parent.mkdir(parents=True, exist_ok=True)
            hosts.write_text(f"127.0.0.1 localhost {os.uname().nodename}\n")
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", NAMES[0], "link", "add", CABLE[0], "type", "veth", "peer", "name", CABLE[1],
           "netns", NAMES[1])  # fmt: skip
        for number, (name, end) in enumerate(zip(NAMES, CABLE, strict=True)):
            ip("-n", name, "addr", "add", f"10.77.0.{number + 1}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            cable(name, number)
        yield
    finally:
        for number, name in enumerate(NAMES):
            for command in (["link", "del", f"c{number}{ID}"], ["netns", "del", name]):
                subprocess.run(["ip", *command], capture_output=True, check=False)
            shutil.rmtree(Path("/etc/netns", name), ignore_errors=True)


@dataclass
class Wired:
    cluster: Cluster

    def agent(self, number: int, *flags: str) -> "subprocess.Popen[bytes]":
        url = f"http://{OUTSIDE}.{number}.1:{self.cluster.port}"
        prefix = ("ip", "netns", "exec", NAMES[number])
        name = f"node{number}"
        return self.cluster.start_agent(
            name, "--procs", "2", "--control", url, *flags, prefix=prefix
        )


@pytest.fixture(scope="module")
def wired() -> Iterator[Wired]:
    with machines(), tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(Path(folder))
        try:
            cluster.start_control_plane("--host", "0.0.0.0")
            wired = Wired(cluster)
            for number, end in enumerate(CABLE):
                wired.agent(number, "--interface", end)
            yield wired
        finally:
            left = cluster.close()
        assert left == {}


def test_a_sum_over_two_machines(wired: Wired) -> None:
    job = wired.cluster.submit("gloo.py", "sum", procs_per_worker=2, outputs=["sum-*.txt"])
    record = wired.cluster.finish(job)
    attempt = record.attempt
    assert attempt is not None
    assert attempt.endpoint is not None
    assert attempt.endpoint.startswith("10.77.0.1:")
    words = wired.cluster.words(job)
    for rank in range(4):
        assert f"[job node{rank // 2} rank{rank}] rank {rank} of 4: the sum is 6" in words


def test_a_running_job_listens_on_the_chosen_interface_only(wired: Wired) -> None:
    cluster = wired.cluster
    job = cluster.submit("gloo.py", "steps", "600", procs_per_worker=2)
    meeting = cluster.meeting(job)
    cluster.wait_in(job, lambda: len(list(meeting.glob("summed-*"))) == 4, "all have summed")
    open_to = {"10.77.0.1": 0, "10.77.0.2": 0}
    for pid in bearing(cluster.mark):
        with contextlib.suppress(OSError):
            for address, port in listening(pid):
                if port != cluster.port:
                    open_to[address] += 1
    assert open_to == {"10.77.0.1": 1 + 2, "10.77.0.2": 2}  # the store; a group's end per rank
    cluster.client.cancel(job.job_id)
    cluster.finish(job, "cancelled")


def test_an_interface_that_is_not_there_is_refused(wired: Wired) -> None:
    prefix = ("ip", "netns", "exec", NAMES[1])
    url = f"http://{OUTSIDE}.1.1:{wired.cluster.port}"
    agent = wired.cluster.start_agent(
        "wrong", "--control", url, "--interface", "eth99", prefix=prefix
    )
    assert agent.wait(30) == 2
    said = (wired.cluster.folder / "wrong.log").read_text()
    assert "interface eth99: this machine has none of that name; it has" in said


CHOOSES = """
from reactor_runtime.launcher.network import choose_address
print(choose_address("http://{outside}.1.1:1", advertise="10.77.0.9"))
print(choose_address("http://{outside}.1.1:1", interface="rrvb"))
print(choose_address("http://10.77.0.1:1"))
"""


def test_an_interfaces_second_address_can_be_advertised(wired: Wired) -> None:
    ip("-n", NAMES[1], "addr", "add", "10.77.0.9/24", "dev", CABLE[1])
    try:
        command = [
            "ip",
            "netns",
            "exec",
            NAMES[1],
            sys.executable,
            "-c",
            CHOOSES.format(outside=OUTSIDE),
        ]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        ip("-n", NAMES[1], "addr", "del", "10.77.0.9/24", "dev", CABLE[1])
    second, first, routed = said.splitlines()
    assert second == "NodeAddress(interface='rrvb', address='10.77.0.9')"
    assert first == routed == "NodeAddress(interface='rrvb', address='10.77.0.2')"


@pytest.mark.parametrize(
    ("interface", "words"),
    [
        ("lo", "interface lo: is loopback, which the job's other hosts cannot reach"),
        ("rrc0", "interface rrc0: this machine has none of that name"),
    ],
)
def test_a_job_with_a_wrong_interface_is_refused_with_the_reason(
    wired: Wired, interface: str, words: str
) -> None:
    rendezvous = {"interface": interface, "join_timeout_s": 8}
    job = wired.cluster.submit("gloo.py", "sum", rendezvous=rendezvous)
    record = wired.cluster.finish(job, "failed")
    assert any(words in cause.message for cause in record.causes), record.causes


def test_a_job_goes_on_while_the_control_plane_cannot_be_reached(wired: Wired) -> None:
    job = wired.cluster.submit("act.py", "wait")
    meeting = wired.cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    try:
        for number in range(2):
            ip("link", "set", f"c{number}{ID}", "down")
        (meeting / "go").touch()
        wait_for(lambda: not wired.cluster.processes_of(job), "the job ends by itself")
        time.sleep(7)  # longer than an agent may be silent: the cut itself is what is tested
        assert wired.cluster.client.job(job.job_id).state == "running"
    finally:
        for number in range(2):
            ip("link", "set", f"c{number}{ID}", "up")
    wired.cluster.finish(job)


def test_a_cut_cable_ends_the_job_and_names_both_ends(wired: Wired) -> None:
    limit_s = soon(5.0)  # which is all the time that ranks have to find each other, too
    job = wired.cluster.submit("gloo.py", "steps", "300", comm_timeout_s=limit_s)
    meeting = wired.cluster.meeting(job)
    summed = "both ranks have summed"
    wired.cluster.wait_in(job, lambda: len(list(meeting.glob("summed-*"))) == 2, summed)
    cut_at = time.monotonic()
    ip("-n", NAMES[1], "link", "set", CABLE[1], "down")
    try:
        assert wired.cluster.seconds_until_gone(job, cut_at) < limit_s + soon()
        record = wired.cluster.finish(job, "failed")
        assert time.monotonic() - cut_at < limit_s + soon()
    finally:
        ip("-n", NAMES[1], "link", "set", CABLE[1], "up")
    assert record.reason.startswith(
        "node 1: node 1 (10.77.0.2) cannot reach node 0 (10.77.0.1) any more"
    )


def test_nodes_that_cannot_reach_each_other_are_named_and_nothing_starts(wired: Wired) -> None:
    ip("-n", NAMES[1], "link", "set", CABLE[1], "down")
    try:
        job = wired.cluster.submit("act.py", "sleep", rendezvous={"join_timeout_s": 5})
        record = wired.cluster.finish(job, "failed")
    finally:
        ip("-n", NAMES[1], "link", "set", CABLE[1], "up")
    words = "node 1 (10.77.0.2) cannot reach the store of node 0 (10.77.0.1) at 10.77.0.1:"
    assert any(words in cause.message for cause in record.causes), record.causes
    assert list(wired.cluster.meeting(job).glob("here-*")) == []


def test_a_stopped_node_on_another_machine_is_lost(wired: Wired) -> None:
    job = wired.cluster.submit("act.py", "sleep")
    meeting = wired.cluster.meeting(job)
    wait_for(lambda: len(list(meeting.glob("here-*"))) == 2, "both ranks run")
    wired.cluster.kill("node1", signal.SIGKILL)
    killed_at = time.monotonic()
    assert wired.cluster.seconds_until_gone(job, killed_at) < soon(15)
    assert "lost" in wired.cluster.finish(job, "failed").reason
