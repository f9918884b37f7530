import pytest

from reactor_runtime.host_port import join_host_port


@pytest.mark.parametrize(
    ("host", "text"), [("127.0.0.1", "127.0.0.1:80"), ("::1", "[::1]:80"), ("node0", "node0:80")]
)
def test_only_an_ipv6_address_stands_in_brackets(host: str, text: str) -> None:
    assert join_host_port(host, 80) == text
