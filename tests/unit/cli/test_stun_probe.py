import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from reactor_runtime.cli.stun_probe import ask_stun

COOKIE = 0x2112A442
Server = Callable[[Callable[[bytes, tuple[str, int]], bytes | None]], int]


@pytest.fixture
def serve() -> Iterator[Server]:
    """A UDP server on loopback that answers with what a function makes of the question."""
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def start(answer: Callable[[bytes, tuple[str, int]], bytes | None]) -> int:
        def run() -> None:
            while True:
                question, sender = link.recvfrom(2048)
                if question == b"stop":
                    return
                reply = answer(question, sender)
                if reply is not None:
                    link.sendto(reply, sender)

        threads.append(threading.Thread(target=run))
        threads[0].start()
        return int(link.getsockname()[1])

    yield start
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stopper:
        stopper.sendto(b"stop", link.getsockname())
    for thread in threads:
        thread.join(5)
    link.close()


def binding_answer(question: bytes, sender: tuple[str, int]) -> bytes:
    address = bytes(a ^ b for a, b in zip(socket.inet_aton(sender[0]), struct.pack("!I", COOKIE),
                                          strict=True))  # fmt: skip
    value = struct.pack("!BBH", 0, 1, sender[1] ^ (COOKIE >> 16)) + address
    software = struct.pack("!HH", 0x8022, 3) + b"abc\0"
    body = software + struct.pack("!HH", 0x0020, len(value)) + value
    return struct.pack("!HH", 0x0101, len(body)) + question[4:20] + body


@pytest.mark.parametrize("uri", ["stun:127.0.0.1:{}", "turn:127.0.0.1:{}?transport=udp"])
def test_a_server_that_answers_tells_our_address(serve: Server, uri: str) -> None:
    answer = ask_stun(uri.format(serve(binding_answer)), 2)
    assert answer.address == "127.0.0.1"
    assert 0 < answer.round_trip_s < 2


def test_a_lost_question_is_asked_again(serve: Server) -> None:
    asked: list[bytes] = []

    def second_time(question: bytes, sender: tuple[str, int]) -> bytes | None:
        asked.append(question)
        return binding_answer(question, sender) if len(asked) > 1 else None

    assert ask_stun(f"stun:127.0.0.1:{serve(second_time)}", 1.5).address == "127.0.0.1"


@pytest.mark.parametrize("reply", [None, b"", b"x" * 40], ids=["silence", "empty", "nonsense"])
def test_a_server_that_does_not_answer_is_given_up_in_time(
    serve: Server, reply: bytes | None
) -> None:
    port = serve(lambda question, sender: reply)
    started = time.monotonic()
    with pytest.raises(OSError, match="does not answer"):
        ask_stun(f"stun:127.0.0.1:{port}", 0.6)
    assert time.monotonic() - started < 2


def test_a_refusal_is_told(serve: Server) -> None:
    port = serve(lambda question, sender: struct.pack("!HH", 0x0111, 0) + question[4:20])
    with pytest.raises(OSError, match="refuses"):
        ask_stun(f"stun:127.0.0.1:{port}", 1)


def test_a_tcp_relay_is_only_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = f"turn:127.0.0.1:{listener.getsockname()[1]}?transport=tcp"
        assert ask_stun(uri, 1).address == ""


def test_a_closed_port_is_an_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(OSError, match="refused"):
            ask_stun(f"turns:127.0.0.1:{port}", 1)


def test_what_is_no_address_is_an_error() -> None:
    with pytest.raises(OSError, match="no STUN"):
        ask_stun("http://x", 1)
