"""What is asked again until the control plane is there, and for how long."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError, SourceError
from reactor_runtime.launcher.control_link import ControlLink, persist
from reactor_runtime.launcher.file_client import FileClient

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


def hang_up_once_then_answer(listener: socket.socket, asked: list[bytes]) -> None:
    for answer in (b"", ANSWER):
        connection, _ = listener.accept()
        with connection:
            asked.append(connection.recv(4096).split(b" ")[0])
            connection.sendall(answer)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_only_a_question_that_was_hung_up_on_is_asked_again(method: str) -> None:
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=hang_up_once_then_answer, args=(listener, asked))
        server.start()
        link = ControlLink(f"http://127.0.0.1:{listener.getsockname()[1]}")
        if method == "POST":
            with pytest.raises(ControlPlaneAbsentError, match="without response"):
                link.ask(method, "/v1/jobs")
            assert asked == [b"POST"]
        assert link.ask("GET", "/v1/jobs") == b"[]"
        server.join(30)
    assert asked == [method.encode(), b"GET"]


@contextmanager
def answering(answer: bytes) -> Iterator[ControlLink]:
    """A control plane that gives one answer and hangs up."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve)
        server.start()
        yield ControlLink(f"http://127.0.0.1:{listener.getsockname()[1]}")
        server.join(30)


def test_a_file_that_is_cut_short_is_no_file(tmp_path: Path) -> None:
    with (
        answering(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") as link,
        pytest.raises(ControlPlaneAbsentError, match="5 more expected"),
    ):
        link.fetch("/v1/sources/x", tmp_path / "archive")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk here is full by its nature")
def test_a_full_disk_is_not_taken_for_an_absent_control_plane() -> None:
    with answering(ANSWER) as link, pytest.raises(OSError, match="No space left"):
        link.fetch("/v1/sources/x", Path("/dev/full"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk here is full by its nature")
def test_a_source_that_finds_no_room_names_the_file_and_the_disk() -> None:
    with answering(ANSWER) as link:
        fetch = partial(FileClient(link).fetch_source, "x", Path("/dev/full"))
        with pytest.raises(SourceError, match=r"/dev/full: this node's disk .* No space left"):
            persist(fetch, 60, threading.Event())  # at once, though patience is left


def failing(times: int, calls: list[int]) -> Callable[[], None]:
    def call() -> None:
        calls.append(1)
        if len(calls) <= times:
            raise ControlPlaneAbsentError("http://x", "not yet")

    return call


def test_it_is_asked_again_until_it_answers() -> None:
    calls: list[int] = []
    persist(failing(2, calls), 60, threading.Event())
    assert len(calls) == 3


def test_patience_ends() -> None:
    calls: list[int] = []
    with pytest.raises(ControlPlaneAbsentError, match="not yet"):
        persist(failing(10**6, calls), 0, threading.Event())
    assert len(calls) <= 2


def test_stop_ends_it_at_once() -> None:
    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    with pytest.raises(ControlPlaneAbsentError):
        persist(failing(10**6, []), 600, stop)
    assert time.monotonic() - began < 60


def test_a_refusal_is_not_asked_again() -> None:
    calls: list[int] = []

    def call() -> None:
        calls.append(1)
        raise ControlPlaneError(400, "no")

    with pytest.raises(ControlPlaneError):
        persist(call, 60, threading.Event())
    assert calls == [1]
