"""Metrics: every figure operators can scrape, in one registry per server.

A part is given one ``Metrics`` and uses its fields; cache what ``labels()`` returns on hot paths.
``prometheus_client`` is imported when the first object is made, so that importing the runtime
stays light. Names start with ``reactor_``; times are seconds, sizes bytes.
"""

# ruff: noqa: RUF009 - every default below is a dataclasses.field(), made by a short name

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"
LABELS = "labels"  # of a field's metadata: the names of its labels, for the reference page

_STEP_BUCKETS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.3,
    2.6,
    5.0,
    10.0,
)
_FAST_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0)


def _registry() -> Any:
    def make() -> "CollectorRegistry":
        from prometheus_client import CollectorRegistry, ProcessCollector

        registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(namespace="reactor", registry=registry)
        return registry

    return field(default_factory=make)


def _counter(name: str, text: str, *labels: str) -> Any:
    def make() -> "Counter":
        from prometheus_client import Counter

        return Counter(f"reactor_{name}", text, labels, registry=None)

    return field(default_factory=make, metadata={LABELS: labels})


def _gauge(name: str, text: str, *labels: str) -> Any:
    def make() -> "Gauge":
        from prometheus_client import Gauge

        return Gauge(f"reactor_{name}", text, labels, registry=None)

    return field(default_factory=make, metadata={LABELS: labels})


def _histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Any:
    def make() -> "Histogram":
        from prometheus_client import Histogram

        return Histogram(f"reactor_{name}", text, labels, buckets=buckets, registry=None)

    return field(default_factory=make, metadata={LABELS: labels})


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """All counters, gauges and histograms of one server, registered in one registry.

    Add a field to add a figure; it registers itself.
    """

    registry: "CollectorRegistry" = _registry()

    # --- the process ---
    loop_lag: "Histogram" = _histogram(
        "loop_lag_seconds", "How late the event loop runs what is due", _FAST_BUCKETS
    )
    loop_lag_now: "Gauge" = _gauge(
        "loop_lag_recent_seconds", "Median lateness of the event loop over the last seconds"
    )
    tasks: "Gauge" = _gauge("tasks", "Tasks alive on the event loop")
    model_load: "Gauge" = _gauge("model_load_seconds", "How long construct, load and warmup took")
    ready: "Gauge" = _gauge("ready", "1 while a session can be started or runs")

    # --- HTTP ---
    http_requests: "Counter" = _counter("http_requests", "Answered requests", "method", "status")
    http_refused: "Counter" = _counter(
        "http_refused", "Requests refused before their route ran", "reason"
    )
    event_streams: "Gauge" = _gauge("event_streams", "Open /events streams")

    # --- the session ---
    session_state: "Gauge" = _gauge("session_state", "1 for the state the session is in", "state")
    sessions_started: "Counter" = _counter("sessions_started", "Sessions started")
    sessions_ended: "Counter" = _counter("sessions_ended", "Sessions ended", "reason")
    clients: "Gauge" = _gauge("clients", "Clients in the session")
    commands: "Counter" = _counter("commands", "Commands answered", "outcome")
    command_seconds: "Histogram" = _histogram(
        "command_seconds", "From a command's arrival to its answer", _STEP_BUCKETS
    )
    inbox_pending: "Gauge" = _gauge("inbox_pending", "Commands that wait for their turn")
    messages_sent: "Counter" = _counter("messages_sent", "Frames sent on data channels", "channel")
    messages_received: "Counter" = _counter(
        "messages_received", "Frames received on data channels", "channel"
    )
    messages_dropped: "Counter" = _counter(
        "messages_dropped", "Frames of data channels that were dropped", "reason"
    )

    # --- files that clients send ---
    uploads: "Counter" = _counter("uploads", "Files that clients began to send", "outcome")
    upload_bytes: "Gauge" = _gauge("upload_bytes", "What the files of the session count for")

    # --- the model ---
    steps: "Counter" = _counter("steps", "Steps run", "outcome")
    step_seconds: "Histogram" = _histogram(
        "step_seconds", "Time in the author's step", _STEP_BUCKETS
    )
    apply_seconds: "Histogram" = _histogram(
        "apply_seconds", "Time in handlers and hooks before a step", _STEP_BUCKETS
    )
    wait_seconds: "Histogram" = _histogram(
        "step_wait_seconds", "Time a step waited for room or for input", _STEP_BUCKETS
    )

    # --- the ranks of a model that has several ---
    rank_broadcast: "Histogram" = _histogram(
        "rank_broadcast_seconds", "Time to tell all ranks what to do", _FAST_BUCKETS
    )
    rank_compute: "Histogram" = _histogram(
        "rank_compute_seconds", "Time in a rank's step", _STEP_BUCKETS, "rank"
    )
    rank_slowest: "Counter" = _counter(
        "rank_slowest", "Steps in which this rank computed longest", "rank"
    )
    rank_collect: "Histogram" = _histogram(
        "rank_collect_seconds", "Time from the last word to the last answer", _STEP_BUCKETS
    )
    rank_copy: "Histogram" = _histogram(
        "rank_copy_seconds", "Time to convert what the ranks emitted", _FAST_BUCKETS
    )
    rank_room: "Histogram" = _histogram(
        "rank_room_seconds", "Time a step waited for room in the queue", _STEP_BUCKETS
    )

    # --- media out ---
    frames_emitted: "Counter" = _counter("frames_emitted", "Frames taken from the model", "track")
    frames_dropped: "Counter" = _counter(
        "frames_dropped", "Frames that were never encoded", "track", "reason"
    )
    queue_frames: "Gauge" = _gauge("queue_frames", "Frames that wait for their time", "track")
    late_ticks: "Counter" = _counter("late_ticks", "Frames shown later than their time", "track")
    stream_fps: "Gauge" = _gauge(
        "stream_fps", "Frames shown per second, over the last two seconds; 0 while nothing is shown"
    )
    encode_seconds: "Histogram" = _histogram(
        "encode_seconds", "Time to encode one frame", _FAST_BUCKETS, "track", "codec", "rung"
    )
    encoded_bytes: "Counter" = _counter("encoded_bytes", "Bytes encoded", "track", "codec", "rung")
    key_frames: "Counter" = _counter("key_frames", "Key frames encoded", "track", "codec", "rung")
    encoders: "Gauge" = _gauge("encoders", "Encoders that are open", "track", "codec", "rung")
    rung_viewers: "Gauge" = _gauge(
        "rung_viewers", "Viewers who get this rung of a track", "track", "rung"
    )
    rung_changes: "Counter" = _counter(
        "rung_changes", "Times a viewer was given another rung", "track", "direction"
    )
    viewers_cut: "Counter" = _counter(
        "viewers_cut", "Times a slow viewer was cut to its next key frame", "track"
    )

    # --- media in ---
    input_frames: "Counter" = _counter("input_frames", "Decoded frames given to the model", "track")
    input_dropped: "Counter" = _counter(
        "input_frames_dropped", "Inbound frames the model never saw", "track", "reason"
    )

    # --- recordings ---
    recording_bytes: "Gauge" = _gauge("recording_bytes", "Bytes of the recordings that are kept")
    recording_losses: "Counter" = _counter(
        "recording_losses", "Pictures and segments missing from recordings", "reason"
    )

    # --- connections ---
    connections: "Gauge" = _gauge("connections", "Open peer connections")
    connections_opened: "Counter" = _counter("connections_opened", "Peer connections that opened")
    connections_closed: "Counter" = _counter(
        "connections_closed", "Peer connections that closed", "reason"
    )
    connect_seconds: "Histogram" = _histogram(
        "connect_seconds", "From a client's offer to its open channels", _STEP_BUCKETS
    )
    rtp_bytes: "Counter" = _counter("rtp_bytes_sent", "RTP payload bytes sent", "kind")
    rtp_packets: "Counter" = _counter("rtp_packets_sent", "RTP packets sent", "kind")
    retransmitted: "Counter" = _counter("rtp_packets_retransmitted", "RTP packets sent again")

    def __post_init__(self) -> None:
        for each in fields(self):
            if each.name != "registry":
                self.registry.register(getattr(self, each.name))

    def render(self) -> bytes:
        """Return every figure as Prometheus text, of type ``CONTENT_TYPE``."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)
