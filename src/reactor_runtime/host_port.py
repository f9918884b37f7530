"""join_host_port: a host and a TCP port as one text, as URLs and end points have it."""


def join_host_port(host: str, port: int) -> str:
    """Return ``host:port``; an IPv6 address stands in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
