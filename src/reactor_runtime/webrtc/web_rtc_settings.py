"""WebRtcSettings: what an operator may decide about connections."""

from dataclasses import dataclass, field
from enum import StrEnum


class PlayoutDelay(StrEnum):
    """When viewers are asked to show pictures at once instead of smoothing them."""

    AUTO = "auto"  # viewers on loopback or a private network
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class IceServer:
    """A STUN or TURN server.

    Attributes:
        uris: ``stun:host:port``, ``turn:host:port?transport=udp`` and the like.
        username: For TURN.
        credential: For TURN; never shown in a line or a ``repr``.
    """

    uris: tuple[str, ...]
    username: str | None = None
    credential: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRtcSettings:
    """Choices and limits of signalling and connections.

    Attributes:
        ice_servers: Asked for candidates and handed to clients; none unless configured. Of each
            kind, STUN and TURN, the first is used.
        public_address: Address under which this host is also reachable (NAT, container), announced
            next to its own with the same ports.
        port_range: First and last UDP port to use, both included; any unless given.
        gather_timeout_s: Seconds an answer waits for STUN and TURN servers; later candidates are
            left out.
        connect_timeout_s: Seconds from an offer until its connection must be live.
        control_grace_s: Seconds a peer with an open data channel has to open its control channel;
            then it is taken for one that has none.
        close_timeout_s: Seconds a closing connection has to let go of everything.
        max_connections: Connections at a time; a new offer for an old one is exempt.
        max_sdp_bytes: Largest offer.
        max_sections: Media sections of an offer.
        max_candidates: Remote candidates of one connection.
        max_channels: Data channels of one connection; further ones are closed at once.
        max_message_bytes: Largest message, either way. A peer that sends a larger one is closed.
        max_send_buffer_bytes: What may wait in one data channel. Past three quarters of it an
            author's messages are dropped and counted; a peer that lets answers pile up past all of
            it is closed.
        max_messages_per_s: Messages a peer may send. A faster peer is read more slowly, so that
            its own flow control slows it down; nothing is lost.
        max_inbound_bytes_per_s: The same for bytes in data channels.
        max_media_packets_per_s: RTP and RTCP packets a peer may send; more are dropped unread.
        max_backlog_bytes: What may wait to leave for one viewer. A viewer past it gets no pictures
            until it has drained, then a key frame.
        playout_delay: Whether viewers show pictures at once.
    """

    ice_servers: tuple[IceServer, ...] = ()
    public_address: str | None = None
    port_range: tuple[int, int] | None = None
    gather_timeout_s: float = 0.8
    connect_timeout_s: float = 30.0
    control_grace_s: float = 1.0
    close_timeout_s: float = 2.0
    max_connections: int = 64
    max_sdp_bytes: int = 256 * 1024
    max_sections: int = 32
    max_candidates: int = 256
    max_channels: int = 4
    max_message_bytes: int = 262_144
    max_send_buffer_bytes: int = 4 * 1024 * 1024
    max_messages_per_s: int = 2_000
    max_inbound_bytes_per_s: int = 4 * 1024 * 1024
    max_media_packets_per_s: int = 8_000
    max_backlog_bytes: int = 192 * 1024
    playout_delay: PlayoutDelay = PlayoutDelay.AUTO
