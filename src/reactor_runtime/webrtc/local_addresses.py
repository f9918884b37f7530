"""The addresses of this host that a peer may reach."""

import ipaddress

import ifaddr

LOOPBACK = "127.0.0.1"


def list_addresses() -> list[str]:
    """Return this host's IP addresses, without loopback and IPv6 link-local ones."""
    found: list[str] = []
    for adapter in ifaddr.get_adapters():
        for entry in adapter.ips:
            text = entry.ip if isinstance(entry.ip, str) else entry.ip[0]
            address = ipaddress.ip_address(text)
            needs_zone = address.version == 6 and address.is_link_local
            if not (address.is_loopback or needs_zone):
                found.append(text)
    return found


def is_near(host: str) -> bool:
    """Whether *host* is on loopback or a private network, where packets arrive evenly."""
    address = ipaddress.ip_address(host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return address.is_private or address.is_loopback or address.is_link_local
