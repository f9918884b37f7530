import pytest

from reactor_runtime.errors import OfferError
from reactor_runtime.webrtc.offer_overrides import OfferOverrides, plan_gathering
from reactor_runtime.webrtc.web_rtc_settings import IceServer, WebRtcSettings

SETTINGS = WebRtcSettings(
    ice_servers=(IceServer(uris=("stun:a.example",)),),
    public_address="203.0.113.9",
    port_range=(5000, 5010),
)
HERE = ["192.0.2.1"]


def test_without_overrides_the_settings_hold() -> None:
    plan = plan_gathering(SETTINGS, OfferOverrides(), HERE)
    assert plan.queries.stun == ("a.example", 3478)
    assert (plan.port_range, plan.public_address) == ((5000, 5010), "203.0.113.9")
    assert plan.credentials is None


def test_an_empty_list_of_servers_replaces_the_configured_ones() -> None:
    assert plan_gathering(SETTINGS, OfferOverrides(ice_servers=[]), HERE).queries.stun is None


def test_ports_and_credentials_are_taken() -> None:
    credentials = {"ufrag": "abcd", "pwd": "0123456789012345678901"}
    overrides = OfferOverrides(port_range=(6000, 6000), ice_credentials=credentials)
    plan = plan_gathering(SETTINGS, overrides, HERE)
    assert plan.port_range == (6000, 6000)
    assert plan.credentials == ("abcd", "0123456789012345678901")
    assert "0123456789" not in repr(plan)


@pytest.mark.parametrize(
    "overrides",
    [
        OfferOverrides(port_range=(0, 5)),
        OfferOverrides(port_range=(9, 8)),
        OfferOverrides(port_range=(1, 65_536)),
        OfferOverrides(port_range=(1,)),
        OfferOverrides(ice_credentials={"ufrag": "ab", "pwd": "0123456789012345678901"}),
        OfferOverrides(ice_credentials={"ufrag": "abcd", "pwd": "short"}),
        OfferOverrides(ice_credentials={"ufrag": "ab cd", "pwd": "0123456789012345678901"}),
        OfferOverrides(ice_servers=[{"uris": ["what"]}]),
    ],
)
def test_malformed_overrides_are_refused(overrides: OfferOverrides) -> None:
    with pytest.raises(OfferError):
        plan_gathering(SETTINGS, overrides, HERE)
