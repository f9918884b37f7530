"""Which interface and address a node shows: told, or that of the route to the control plane."""

import socket

import pytest

from reactor_runtime.errors import NodeNetworkError
from reactor_runtime.launcher.network import (
    NodeAddress,
    choose_address,
    host_id,
    interface_addresses,
)

LOOPBACK = NodeAddress(interface="lo", address="127.0.0.1")


def test_the_interface_that_routes_to_the_control_plane_is_the_default() -> None:
    assert choose_address("http://127.0.0.1:7077") == LOOPBACK


def test_an_interface_is_chosen_by_name_or_by_address() -> None:
    assert choose_address("http://192.0.2.1:1", interface="lo") == LOOPBACK
    assert choose_address("http://192.0.2.1:1", advertise="127.0.0.1") == LOOPBACK
    behind_nat = choose_address("http://127.0.0.1:1", interface="lo", advertise="192.0.2.7")
    assert behind_nat == NodeAddress(interface="lo", address="192.0.2.7")


@pytest.mark.parametrize(
    ("url", "chosen", "words"),
    [
        ("http://127.0.0.1:1", {"interface": "eth99"}, "none of that name; it has .*lo"),
        ("http://127.0.0.1:1", {"advertise": "192.0.2.7"}, "no interface here has this address"),
        ("http://127.0.0.1:1", {"advertise": "nowhere.invalid"}, "the name is not known"),
        ("http://nowhere.invalid:1", {}, "there is no route to http://nowhere.invalid:1"),
    ],
)
def test_what_will_not_do_is_refused_with_the_reason(
    url: str, chosen: dict[str, str], words: str
) -> None:
    with pytest.raises(NodeNetworkError, match=words):
        choose_address(url, **chosen)


def test_every_address_of_an_interface_is_known() -> None:
    found = interface_addresses()
    assert found["127.0.0.1"] == "lo"
    assert set(found.values()) <= {name for _, name in socket.if_nameindex()}


def test_two_processes_of_one_network_say_the_same_of_their_host() -> None:
    assert host_id() == host_id() != ""
