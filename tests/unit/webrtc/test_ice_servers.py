import pytest

from reactor_runtime.errors import OfferError
from reactor_runtime.webrtc.ice_servers import describe_servers, queries_of, read_servers
from reactor_runtime.webrtc.web_rtc_settings import IceServer

TURN = IceServer(uris=("turns:t.example?transport=tcp",), username="me", credential="secret")


def test_clients_are_told_in_the_form_of_the_wire() -> None:
    stun = IceServer(uris=("stun:a.example",))
    assert describe_servers([stun, TURN]) == [
        {"uris": ["stun:a.example"]},
        {
            "uris": ["turns:t.example?transport=tcp"],
            "credentials": {"username": "me", "password": "secret"},
        },
    ]
    assert read_servers(describe_servers([stun, TURN])) == (stun, TURN)


def test_a_credential_is_in_no_repr() -> None:
    assert "secret" not in repr(TURN)
    assert "secret" not in repr(queries_of([TURN]))


def test_the_first_of_each_kind_is_asked() -> None:
    servers = [
        IceServer(uris=("stun:a.example:1234", "stun:b.example")),
        IceServer(uris=("turn:[2001:db8::1]:99",), username="u", credential="p"),
        TURN,
    ]
    queries = queries_of(servers)
    assert queries.stun == ("a.example", 1234)
    assert queries.turn is not None
    assert (queries.turn.host, queries.turn.port) == ("2001:db8::1", 99)
    assert (queries.turn.transport, queries.turn.is_tls) == ("udp", False)


def test_turns_is_tcp_on_its_own_port() -> None:
    turn = queries_of([TURN]).turn
    assert turn is not None
    assert (turn.port, turn.transport, turn.is_tls) == (5349, "tcp", True)


@pytest.mark.parametrize("uri", ["", "http://x", "stun:", "stun:x:99999", "turn:x?transport=sctp"])
def test_a_malformed_uri_is_the_offers_fault(uri: str) -> None:
    with pytest.raises(OfferError, match="ice_servers"):
        read_servers([{"uris": [uri]}])


def test_uris_must_be_a_list_of_strings() -> None:
    with pytest.raises(OfferError, match="list of strings"):
        read_servers([{"uris": "stun:x"}])
