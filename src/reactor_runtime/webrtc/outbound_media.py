"""OutboundMedia: every output track of one peer, and the rung of the ladder its link carries."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.log import get_logger
from reactor_runtime.webrtc.broadcast import Broadcasts
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import SectionPlan
from reactor_runtime.webrtc.outbound_track import OutboundTrack
from reactor_runtime.webrtc.rtcp_packets import (
    BitrateEstimate,
    KeyRequest,
    Nack,
    ReceiverReport,
    ReportBlock,
    RtcpPacket,
    SenderReport,
)
from reactor_runtime.webrtc.rung_control import LinkReport, RungControl
from reactor_runtime.webrtc.sent_rate import SentRate

log = get_logger(__name__)


class OutboundMedia:
    """Sends output tracks, and follows what the viewer reports of them.

    All tracks share one link, so one control decides for all of its video.

    Attributes:
        tracks: By the track's name.
    """

    def __init__(self, broadcasts: Broadcasts, port: MediaPort, clock: Clock, client: str) -> None:
        self._broadcasts, self._port, self._clock = broadcasts, port, clock
        self._client = client
        self.tracks: dict[str, OutboundTrack] = {}
        self._by_ssrc: dict[int, OutboundTrack] = {}
        self._repeat_ssrcs: set[int] = set()
        self._control: RungControl | None = None
        self._sent = SentRate()
        self._cuts = 0

    def add(self, plan: SectionPlan, *, cname: str, max_backlog_bytes: int) -> OutboundTrack:
        """Return the track that *plan* sends."""
        choice, output = plan.choice, plan.output
        assert choice is not None
        assert output is not None
        track = OutboundTrack(
            plan,
            self._broadcasts.of(output.name, choice.codec),
            self._port,
            clock=self._clock,
            cname=cname,
            max_backlog_bytes=max_backlog_bytes,
        )
        self.tracks[output.name] = track
        self._by_ssrc[track.ids.ssrc] = track
        if track.ids.rtx is not None:
            self._repeat_ssrcs.add(track.ids.rtx)
        if choice.codec.is_video:
            can_pad = choice.rtx_payload_type is not None
            self._control = self._control or RungControl(can_pad=can_pad)
            track.padding = self._control.padding
        return track

    def handle(self, part: RtcpPacket) -> None:
        """Take what the peer says of what it is sent."""
        now = self._clock.now()
        if self._control is not None:
            self._control.note_heard(now)
        if isinstance(part, SenderReport | ReceiverReport):
            self._note_blocks(part.blocks, now)
        elif isinstance(part, BitrateEstimate):
            self._note_estimate(part, now)
        elif isinstance(part, Nack):
            self._send_again(part, now)
        elif isinstance(part, KeyRequest) and part.media_ssrc in self._by_ssrc:
            self._by_ssrc[part.media_ssrc].request_key()

    def _note_blocks(self, blocks: tuple[ReportBlock, ...], now: float) -> None:
        loss, trips = 0.0, []
        for block in blocks:
            track = self._by_ssrc.get(block.ssrc)
            if track is None:
                continue
            track.note_report(block)
            if track.kind == "video":
                loss = max(loss, block.fraction_lost / 256)
                trips.append(track.counters.round_trip_s)
        if self._control is not None and trips:
            known = [trip for trip in trips if trip is not None]
            padding = [each.fraction_lost for each in blocks if each.ssrc in self._repeat_ssrcs]
            report = LinkReport(
                loss=loss,
                padding_loss=max(padding, default=0) / 256,
                round_trip_s=max(known, default=None),
            )
            self._control.note_report(report, now)
            self._follow(now)

    def _note_estimate(self, part: BitrateEstimate, now: float) -> None:
        for track in filter(None, map(self._by_ssrc.get, part.ssrcs)):
            track.counters.estimate_bps = part.bitrate
        if self._control is not None:
            rate = self._sent.update(self._octets, now)
            self._control.note_estimate(part.bitrate, rate, now)
            self._follow(now)

    def _send_again(self, part: Nack, now: float) -> None:
        track = self._by_ssrc.get(part.media_ssrc)
        if track is None:
            return
        track.send_again(part.sequences)
        if self._control is not None and track.kind == "video":
            self._control.note_asked_again(len(part.sequences), self._packets, now)

    @property
    def _packets(self) -> int:
        return sum(each.counters.packets for each in self.tracks.values() if each.kind == "video")

    @property
    def _octets(self) -> int:
        return sum(each.counters.all_octets for each in self.tracks.values())

    def _follow(self, now: float) -> None:
        """Let time pass for the control, and give every track the rung it says."""
        control = self._control
        if control is None:
            return
        before, cuts = control.rung, sum(each.counters.cuts for each in self.tracks.values())
        if cuts > self._cuts:
            self._cuts = cuts
            control.note_cut(now)
        control.tick(self._packets, now)
        for track in self.tracks.values():
            if track.kind == "video":
                track.footing.move_to(control.rung)
        if control.rung is not before:
            log.info("viewer_rung", client=self._client, rung=control.rung.value)

    def tick(self) -> None:
        """Send reports; to be called about once a second."""
        for track in self.tracks.values():
            track.report()
        now = self._clock.now()
        self._sent.update(self._octets, now)
        self._follow(now)

    def stats(self) -> Mapping[str, Any]:
        """Return figures per track."""
        return {
            name: {
                "flow": track.flow.value,
                "rung": track.footing.rung.value,
                **asdict(track.counters),
            }
            for name, track in self.tracks.items()
        }
