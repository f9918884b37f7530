"""SessionSettings: every limit and delay of the session, in one frozen value."""

from dataclasses import dataclass, field

from reactor_runtime.uploads.upload_settings import UploadSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How long a session waits, and how much it takes from one client.

    Attributes:
        model_name: What descriptors call the model; ``None`` for the contract's name.
        model_version: What the schema gives as its version; ``None`` for none.
        model_description: What the schema says of it; ``None`` for the contract's words.
        clientless_timeout_s: A session nobody watches ends after this; 0 or less disables it.
        silence_limit_s: A client that sends no frame for this long is closed.
        watchdog_interval_s: How often silence is looked at.
        probe_after_s: A start against an occupied session probes connections silent for longer.
        probe_timeout_s: How long such a probe waits for a sign of life.
        connect_limit_s: A waiting session older than this yields to a new start.
        start_wait_s: How long a start waits for a closing session, and for ``session_started``.
        starting_input_wait_s: How long a start waits for its starting input to be applied.
        connection_close_s: How long an ending session waits for its connections to close.
        host_close_s: How long it waits for the host, which watches its own turns; past it the host
            counts as lost.
        shutdown_s: How long a server that stops waits for its session to end.
        stats_interval_s: How often ``runtime_stats`` is published; 0 or less disables it.
        max_pending: Commands of one client that may wait for their turn.
        max_pending_bytes: The same, in bytes of their frames.
        commands_per_s: Commands of one client that reach the model per second, in the long run;
            one that waits for each answer is not held back.
        command_burst: Commands of one client that may reach it at once.
        requests_per_s: Schema, clip, publish and like requests of one client per second.
        publisher_lapse_s: A client that feeds a track without having asked has lost it after this
            long without a frame.
        max_held_out: Messages kept for a client whose version is not known yet.
        events_retained: Events an operator can replay.
        uploads: Limits and delays of files that clients send.
    """

    model_name: str | None = None
    model_version: str | None = None
    model_description: str | None = None
    clientless_timeout_s: float = 60.0
    silence_limit_s: float = 20.0
    watchdog_interval_s: float = 2.0
    probe_after_s: float = 1.0
    probe_timeout_s: float = 2.0
    connect_limit_s: float = 30.0
    start_wait_s: float = 0.8
    starting_input_wait_s: float = 8.0
    connection_close_s: float = 0.6
    host_close_s: float = 660.0
    shutdown_s: float = 4.0
    stats_interval_s: float = 5.0
    max_pending: int = 256
    max_pending_bytes: int = 4 * 1024 * 1024
    commands_per_s: float = 500.0
    command_burst: int = 64
    requests_per_s: float = 20.0
    publisher_lapse_s: float = 2.0
    max_held_out: int = 256
    events_retained: int = 4096
    uploads: UploadSettings = field(default_factory=UploadSettings)
