"""Nodes meet over a real store: who cannot reach whom, who did not come, and in what time."""

import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")

from reactor_runtime.errors import RendezvousError
from reactor_runtime.launcher.meeting import Place, meet
from reactor_runtime.launcher.rendezvous_store import HeldStore, StoreClient, within
from reactor_runtime.launcher.store_contact import StoreContact

pytestmark = pytest.mark.torch


def place(endpoint: str, node: int, attempt: str = "a.1", limit_s: float = 5.0) -> Place:
    return Place(
        endpoint=endpoint,
        attempt_id=attempt,
        node_rank=node,
        num_workers=2,
        join_timeout_s=limit_s,
        addresses=("10.0.0.1", "10.0.0.2"),
    )


def test_two_nodes_meet_and_hear_node_0s_word() -> None:
    store = HeldStore("127.0.0.1", None)
    said: list[str | None] = []
    peer = threading.Thread(
        target=lambda: said.append(meet(place(store.endpoint, 1), threading.Event())[1])
    )
    peer.start()
    _, word = meet(place(store.endpoint, 0), threading.Event(), "/c/step-3")
    peer.join(10)
    assert (word, said) == ("/c/step-3", ["/c/step-3"])
    store.close()


def test_who_did_not_come_is_named() -> None:
    store = HeldStore("127.0.0.1", None)
    with pytest.raises(RendezvousError, match=r"node 1 \(10\.0\.0\.2\) did not join within 3 s"):
        meet(place(store.endpoint, 0, limit_s=3), threading.Event())
    store.close()


def test_a_node_of_another_attempt_has_not_come() -> None:
    store = HeldStore("127.0.0.1", None)
    errors: list[RendezvousError] = []

    def other() -> None:
        with pytest.raises(RendezvousError) as caught:
            meet(place(store.endpoint, 1, "a.2", limit_s=3), threading.Event())
        errors.append(caught.value)

    peer = threading.Thread(target=other)
    peer.start()
    with pytest.raises(RendezvousError, match="did not join"):
        meet(place(store.endpoint, 0, limit_s=3), threading.Event())
    peer.join(10)
    assert "gave no go within 3 s" in str(errors[0])
    store.close()


def test_a_silent_listener_is_no_store() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        words = r"node 1 \(10\.0\.0\.2\) cannot reach the store of node 0 \(10\.0\.0\.1\) at 127"
        with pytest.raises(RendezvousError, match=words):
            meet(place(endpoint, 1, limit_s=1.5), threading.Event())
        assert time.monotonic() - began < 5


HOLDER = """
import sys, time
from reactor_runtime.launcher.rendezvous_store import HeldStore
store = HeldStore("127.0.0.1", None)
print(store.endpoint, flush=True)
time.sleep(300)
"""


@pytest.fixture
def holder() -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A process that holds a store, and where."""
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        yield run, run.stdout.readline().strip()
        run.kill()


@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_store_that_answers_no_more_is_said_with_both_names(
    holder: tuple["subprocess.Popen[str]", str], number: int
) -> None:
    process, endpoint = holder
    client = StoreClient(endpoint, "a.1", 30)
    client.set("go", "")
    assert StoreContact(place(endpoint, 1), client).end() is None
    contact = StoreContact(place(endpoint, 1), client)
    process.send_signal(number)
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] not in "TZ":
        time.sleep(0.01)
    failure = contact.end()
    assert failure is not None
    assert "node 1 (10.0.0.2) cannot reach node 0 (10.0.0.1) any more" in failure.message
    assert StoreContact(place(endpoint, 0), client).end() is None  # node 0 holds it itself


def test_the_port_is_held_and_listens_on_its_own_address_only() -> None:
    store = HeldStore("127.0.0.1", None)
    with pytest.raises(RendezvousError, match=f"port {store.port}: Address already in use"):
        HeldStore("127.0.0.1", store.port)
    with socket.socket() as other:
        other.bind(("127.0.0.2", store.port))
    client = StoreClient(store.endpoint, "a.1", 5)
    client.set("k", "v")
    assert (client.get("k"), client.has("k"), client.has("no")) == ("v", True, False)
    store.close()


def test_a_call_that_hangs_is_left_behind() -> None:
    gate = threading.Event()
    with pytest.raises(RendezvousError, match=r"it: no answer within 0\.1 s"):
        within(0.1, gate.wait, "it", 0)
    gate.set()


def test_stop_ends_the_waiting() -> None:
    store = HeldStore("127.0.0.1", None)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(RendezvousError):
        meet(place(store.endpoint, 0, limit_s=30), stop)
    assert time.monotonic() - began < 5
    store.close()


@pytest.mark.parametrize(
    "words",
    [
        pickle.dumps([1, 2]),
        b"\xff" * 4096,
        (1 << 30).to_bytes(8, "little"),
        b"\x00" + (1 << 30).to_bytes(8, "little") + b"k",  # a key of 1 GiB that never comes
    ],
    ids=["pickle", "noise", "length", "long key"],
)
def test_rubbish_on_the_rendezvous_port_hurts_no_client(words: bytes) -> None:
    store = HeldStore("127.0.0.1", None)
    client = StoreClient(store.endpoint, "a.1", 5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with socket.create_connection(("127.0.0.1", store.port), timeout=5) as stranger:
        stranger.sendall(words)
        client.set("k", "v")
        assert client.get("k") == "v"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB
    store.close()
