"""ServerSettings: where the HTTP server listens, who may ask, and how much at once."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Everything the HTTP surface needs to know.

    Attributes:
        host: Name or address to bind.
        port: TCP port; 0 lets the system choose.
        token: What a caller must present; ``None`` lets everybody in whom the origin rules let in.
        allow_origins: Further origins browsers may call from (``https://app.example``), or ``*``.
        allow_hosts: Further names this server is reached by.
        json_limit_bytes: The largest JSON body.
        sdp_limit_bytes: The largest session description, in UTF-8 bytes.
        body_timeout_s: Seconds a caller may take to send a body.
        answer_hold_s: Seconds a request for an SDP answer is held until there is one.
        max_event_streams: How many ``/events`` streams may be open at once.
    """

    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = field(default=None, repr=False)
    allow_origins: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    json_limit_bytes: int = 1 << 20
    sdp_limit_bytes: int = 256 << 10
    body_timeout_s: float = 10.0
    answer_hold_s: float = 1.0
    max_event_streams: int = 32
