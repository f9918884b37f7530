"""Own address: where a caller reaches us, for the addresses we give it."""

from starlette.requests import Request


def own_address(request: Request) -> str:
    """Return scheme and host as the caller has them, without a user, a password or a path."""
    return f"{request.url.scheme}://{request.url.netloc.rpartition('@')[2]}"


def own_address_for_links(request: Request) -> str:
    """Return what goes before the paths of links for this caller: nothing, or our address.

    Clients put the address they were given before a path. One that was given its token there
    (``http://reactor:TOKEN@host``) sends it as ``Basic``; the Python SDK opens no link with such an
    address in front.
    """
    is_basic = request.headers.get("authorization", "").lower().startswith("basic ")
    return own_address(request) if is_basic else ""
