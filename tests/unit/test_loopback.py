import pytest

from reactor_runtime.loopback import is_loopback


@pytest.mark.parametrize(
    "host", ["127.0.1.1", "::1", "[::1]", "localhost", "LocalHost", "app.localhost"]
)
def test_this_machine_is_known_by_its_names_and_in_both_families(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["10.0.0.1", "0.0.0.0", "::", "", "localhost.example", "127.1.x"])
def test_what_may_be_another_machine_is_not(host: str) -> None:
    assert not is_loopback(host)
