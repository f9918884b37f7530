"""PeerMedia: all tracks of one peer, and which packet belongs to which."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reactor_runtime.clock import Clock
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.webrtc.broadcast import Broadcasts
from reactor_runtime.webrtc.inbound_track import InboundTrack
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import (
    MID_URI,
    TRANSPORT_NUMBER_URI,
    Negotiation,
    SectionPlan,
)
from reactor_runtime.webrtc.outbound_media import OutboundMedia
from reactor_runtime.webrtc.outbound_track import OutboundTrack
from reactor_runtime.webrtc.rtcp_packets import SenderReport, parse_rtcp
from reactor_runtime.webrtc.rtp_packet import RtpPacket, parse_rtp
from reactor_runtime.webrtc.session_answer import StreamIds
from reactor_runtime.webrtc.transport_feedback import ArrivalReports

_MAX_SSRCS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaNeeds:
    """What the tracks of a peer are given.

    Attributes:
        broadcasts: Where encoded frames come from.
        clock: Time.
        cname: Names our clock to the peer.
        client: Names the peer in log lines.
        max_backlog_bytes: What may wait to leave before pictures are dropped.
        wants: Whether inbound frames of the named track are of use.
        deliver: Takes one inbound frame of the named track.
    """

    broadcasts: Broadcasts
    clock: Clock
    cname: str
    client: str
    max_backlog_bytes: int
    wants: Callable[[str], bool]
    deliver: Callable[[str, InputFrame], None]


def _drop(packet: bytes, is_rtcp: bool) -> None:
    """Take no notice of a packet that comes after the end."""


class PeerMedia:
    """Sends output tracks, takes input tracks, and answers RTCP.

    Attributes:
        inputs: By mid.
    """

    def __init__(self, negotiation: Negotiation, port: MediaPort, needs: MediaNeeds) -> None:
        self._needs, self._port = needs, port
        self._out = OutboundMedia(needs.broadcasts, port, needs.clock, needs.client)
        self.inputs: dict[str, InboundTrack] = {}
        self._ids: dict[str, StreamIds] = {}
        self._receivers: dict[int, InboundTrack] = {}
        self._by_payload_type: dict[int, list[InboundTrack]] = {}
        self._mid_ids: set[int] = set()
        self._arrivals = ArrivalReports(port, needs.clock)
        for plan in negotiation.sections:
            if plan.output is not None:
                self._add_output(plan)
            if plan.input is not None:
                self._add_input(plan, plan.input.name)
        port.on_packet = self.handle

    def _add_output(self, plan: SectionPlan) -> None:
        needs = self._needs
        track = self._out.add(plan, cname=needs.cname, max_backlog_bytes=needs.max_backlog_bytes)
        self._ids[plan.section.mid] = track.ids

    def _add_input(self, plan: SectionPlan, name: str) -> None:
        assert plan.choice is not None
        wants, deliver = self._needs.wants, self._needs.deliver
        track = InboundTrack(
            plan,
            self._port,
            clock=self._needs.clock,
            wanted=lambda: wants(name),
            deliver=lambda frame: deliver(name, frame),
        )
        self.inputs[plan.section.mid] = track
        for ssrc in plan.section.ssrcs:
            self._receivers[ssrc] = track
        for number in (plan.choice.payload_type, plan.choice.rtx_payload_type):
            if number is not None:
                self._by_payload_type.setdefault(number, []).append(track)
        if MID_URI in plan.extensions:
            self._mid_ids.add(plan.extensions[MID_URI])
        self._arrivals.expect(plan.extensions.get(TRANSPORT_NUMBER_URI))

    @property
    def outputs(self) -> Mapping[str, OutboundTrack]:
        """The output tracks, by name."""
        return self._out.tracks

    @property
    def stream_ids(self) -> Mapping[str, StreamIds]:
        """The SSRCs of what is sent, by mid."""
        return self._ids

    def show_at_once(self) -> None:
        """Ask the peer not to smooth pictures."""
        for track in self.outputs.values():
            track.show_at_once()

    def resume(self, track: str) -> bool:
        """Start sending an output; ``False`` when there is none of that name."""
        if track not in self.outputs:
            return False
        self.outputs[track].resume()
        return True

    def pause(self, track: str) -> bool:
        """Stop sending an output; ``False`` when there is none of that name."""
        if track not in self.outputs:
            return False
        self.outputs[track].pause()
        return True

    def handle(self, packet: bytes, is_rtcp: bool) -> None:
        """Take one decrypted packet of the peer; junk is dropped."""
        try:
            if is_rtcp:
                for part in parse_rtcp(packet):
                    if isinstance(part, SenderReport) and part.ssrc in self._receivers:
                        self._receivers[part.ssrc].note_report(part)
                    self._out.handle(part)
            elif self.inputs:
                parsed = parse_rtp(packet)
                self._arrivals.note(parsed)
                track = self._receivers.get(parsed.ssrc) or self._find(parsed)
                if track is not None:
                    track.add(parsed)
        except ValueError:
            return

    def _find(self, packet: RtpPacket) -> InboundTrack | None:
        """Return the track of a stream that the offer did not announce, and remember it."""
        mids = (packet.extensions.get(number) for number in self._mid_ids)
        named = [self.inputs.get(mid.decode(errors="replace")) for mid in mids if mid is not None]
        tracks = named or self._by_payload_type.get(packet.payload_type, [])
        if len(tracks) != 1 or len(self._receivers) >= _MAX_SSRCS:
            return None
        if tracks[0] is not None:
            self._receivers[packet.ssrc] = tracks[0]
        return tracks[0]

    async def tick(self) -> None:
        """Send reports; to be called about once a second."""
        self._out.tick()
        for source in self.inputs.values():
            await source.tick()

    async def close(self) -> None:
        """Send and take nothing more, and end every decoder, within a bound."""
        self._port.on_packet = _drop
        for output in self.outputs.values():
            output.pause()
        for source in self.inputs.values():
            await source.close()

    def stats(self) -> Mapping[str, Any]:
        """Return figures per track."""
        inputs = {
            track.name: {
                "frames": track.frames,
                "lost": track.lost,
                "skipped": track.skipped,
                "unwanted": track.unwanted,
            }
            for track in self.inputs.values()
        }
        return {"outputs": self._out.stats(), "inputs": inputs}
