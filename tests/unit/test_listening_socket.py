import socket
from collections.abc import Iterator

import pytest

from reactor_runtime.errors import AddressError
from reactor_runtime.listening_socket import open_sockets


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_free_port_is_chosen_and_listens_at_once() -> None:
    (opened,) = open_sockets("127.0.0.1", 0)
    with opened:
        port = opened.getsockname()[1]
        assert port > 0
        socket.create_connection(("127.0.0.1", port), timeout=1).close()


def test_a_taken_port_is_told_with_what_to_do(taken: int) -> None:
    with pytest.raises(AddressError) as caught:
        open_sockets("127.0.0.1", taken)
    text = str(caught.value)
    assert str(taken) in text
    assert "in use" in text
    assert "--port" in text


def test_a_name_with_several_addresses_gets_them_all_on_one_port() -> None:
    opened = open_sockets("localhost", 0)
    try:
        assert len({each.getsockname()[1] for each in opened}) == 1
        assert {each.family for each in opened} <= {socket.AF_INET, socket.AF_INET6}
    finally:
        for each in opened:
            each.close()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1", "a" * 300])
def test_an_address_that_is_not_ours_is_told(host: str) -> None:
    with pytest.raises(AddressError) as caught:
        open_sockets(host, 0)
    assert host in str(caught.value)


def test_brackets_around_an_ipv6_address_are_fine() -> None:
    try:
        (opened,) = open_sockets("[::1]", 0)
    except AddressError as error:
        pytest.skip(str(error))
    with opened:
        assert opened.family == socket.AF_INET6


def test_every_network_means_both_kinds_of_address() -> None:
    try:
        (opened,) = open_sockets("::", 0)
    except AddressError as error:
        pytest.skip(str(error))
    with opened:
        port = opened.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
