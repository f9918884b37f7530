"""is_loopback: what always means the machine itself."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether *host*, a name or an address with or without brackets, is this machine."""
    plain = host.strip("[]").lower()
    if plain == "localhost" or plain.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(plain).is_loopback
    except ValueError:
        return False
