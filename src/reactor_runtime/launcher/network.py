"""Which interface and address a node shows to its peers."""

import array
import socket
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reactor_runtime.errors import NodeNetworkError
from reactor_runtime.loopback import is_loopback

_SIOCGIFCONF = 0x8912
_IFREQ_BYTES = 40 if struct.calcsize("P") == 8 else 32
_MOST_ADDRESSES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAddress:
    """Where a node can be reached.

    Attributes:
        interface: Name of the network interface.
        address: An IP address as a literal.
    """

    interface: str
    address: str

    @property
    def is_loopback(self) -> bool:
        """Whether only this host can reach it."""
        return is_loopback(self.address)


def choose_address(
    control_url: str, interface: str | None = None, advertise: str | None = None
) -> NodeAddress:
    """Return the address to advertise: the one told, the interface's, or that of the route.

    Raises:
        NodeNetworkError: There is no such interface, or it has no address.
    """
    owners = interface_addresses()
    if interface is not None and interface not in dict(socket.if_nameindex()).values():
        known = ", ".join(sorted(owners.values())) or "none"
        raise NodeNetworkError(interface, f"this machine has none of that name; it has {known}")
    if advertise is not None:
        literal = _resolved(advertise)
        owner = interface or owners.get(literal)
        if owner is None:
            raise NodeNetworkError(literal, "no interface here has this address; name --interface")
        return NodeAddress(interface=owner, address=literal)
    if interface is not None:
        found = [address for address, name in owners.items() if name == interface]
        if not found:
            raise NodeNetworkError(interface, "it has no address; name another one")
        return NodeAddress(interface=interface, address=found[0])
    address = routed_address(control_url)
    if sys.platform == "linux" and address not in owners:
        raise NodeNetworkError(address, "no interface here shows this address; name --interface")
    return NodeAddress(interface=owners.get(address, ""), address=address)


def routed_address(url: str) -> str:
    """Return this machine's address on the route to *url*.

    Raises:
        NodeNetworkError: The name is unknown or there is no route.
    """
    parts = urlsplit(url)
    try:
        family, *_, where = socket.getaddrinfo(
            parts.hostname, parts.port or 80, type=socket.SOCK_DGRAM
        )[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(where)
            return str(probe.getsockname()[0])
    except OSError as error:
        raise NodeNetworkError("of the route", f"there is no route to {url} ({error})") from error


def interface_addresses() -> dict[str, str]:
    """Return the interface of every address of this machine; an interface's first comes first."""
    found = _ipv4_addresses()
    try:
        lines = Path("/proc/net/if_inet6").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        digits, _, _, scope, _, name = line.split()
        if scope in {"00", "10"}:  # global and loopback; link-local needs a zone
            found[socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits))] = name
    return found


def host_id() -> str:
    """Return a text that two agents share only when loopback of one is loopback of the other."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{Path('/proc/self/ns/net').readlink()}"
    except OSError:
        return socket.gethostname()


def _ipv4_addresses() -> dict[str, str]:
    if sys.platform != "linux":
        return {}
    import fcntl

    rows = array.array("B", bytes(_MOST_ADDRESSES * _IFREQ_BYTES))
    where, room = rows.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        answer = fcntl.ioctl(probe.fileno(), _SIOCGIFCONF, struct.pack("iP", room, where))
    found: dict[str, str] = {}
    for start in range(0, struct.unpack("iP", answer)[0], _IFREQ_BYTES):
        row = rows[start : start + _IFREQ_BYTES].tobytes()
        label = row[:16].partition(b"\0")[0].decode()  # "eth0:1" is a second address of eth0
        found[socket.inet_ntoa(row[20:24])] = label.partition(":")[0]
    return found


def _resolved(name: str) -> str:
    try:
        return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise NodeNetworkError(name, f"the name is not known ({error})") from error
