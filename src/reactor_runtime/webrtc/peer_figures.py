"""PeerFigures: what one connection adds to the server's metrics."""

from enum import StrEnum
from typing import Any

from reactor_runtime.metrics import Metrics
from reactor_runtime.webrtc.peer_media import PeerMedia


class EndCause(StrEnum):
    """Why a connection ended, in few words, for counting."""

    LEFT = "left"
    SERVER = "server"
    NO_PATH = "no_path"
    FAULT = "fault"


class PeerFigures:
    """Publishes the growth of one peer's counters; does nothing without metrics."""

    def __init__(self, metrics: Metrics | None) -> None:
        self._metrics = metrics
        self._published: dict[tuple[str, str], int] = {}

    def note_open(self, seconds: float) -> None:
        """Note a connection that opened *seconds* after its offer."""
        if self._metrics is not None:
            self._metrics.connections.inc()
            self._metrics.connections_opened.inc()
            self._metrics.connect_seconds.observe(seconds)

    def note_end(self, cause: EndCause, *, was_open: bool) -> None:
        """Note the end of a connection."""
        if self._metrics is not None:
            self._metrics.connections_closed.labels(cause.value).inc()
            if was_open:
                self._metrics.connections.dec()

    def publish(self, media: PeerMedia) -> None:
        """Add what was counted since the last call."""
        metrics = self._metrics
        if metrics is None:
            return
        for name, output in media.outputs.items():
            counters, kind = output.counters, output.kind
            self._add(metrics.rtp_packets.labels(kind), name, "packets", counters.packets)
            self._add(metrics.rtp_bytes.labels(kind), name, "octets", counters.octets)
            self._add(metrics.retransmitted, name, "repeats", counters.repeats)
            self._add(metrics.viewers_cut.labels(name), name, "cuts", counters.cuts)
            for way, count in (("down", counters.falls), ("up", counters.climbs)):
                self._add(metrics.rung_changes.labels(name, way), name, way, count)
        for source in media.inputs.values():
            name = source.name
            self._add(metrics.input_frames.labels(name), name, "frames", source.frames)
            for reason, count in (("lost", source.lost), ("skipped", source.skipped)):
                self._add(metrics.input_dropped.labels(name, reason), name, reason, count)

    def _add(self, counter: Any, track: str, what: str, value: int) -> None:
        before = self._published.get((track, what), 0)
        self._published[track, what] = value
        grown = value - before if value >= before else value  # it was counted anew
        if grown:
            counter.inc(grown)
