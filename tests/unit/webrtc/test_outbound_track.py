import itertools
from collections.abc import Iterable

from tests.unit.webrtc.offers import offer, video
from tests.unit.webrtc.viewer import VIDEO, Hold, PatternSource

from reactor_runtime.clock import SystemClock
from reactor_runtime.media.encoded_frame import Codec, EncodedFrame
from reactor_runtime.media.rung import Rung
from reactor_runtime.webrtc.broadcast import Broadcast
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import negotiate
from reactor_runtime.webrtc.outbound_track import Flow, OutboundTrack
from reactor_runtime.webrtc.packetizer import vp8_picture_id
from reactor_runtime.webrtc.rtp_packet import parse_rtp
from reactor_runtime.webrtc.session_offer import parse_offer

LIMIT = 10_000


class Line(MediaPort):
    """A way out that stands still until it is told to drain."""

    def __init__(self) -> None:
        super().__init__(SystemClock(), 1000)
        self.packets: list[bytes] = []
        self.reports: list[bytes] = []
        self.waiting = 0
        self.is_stuck = False

    @property
    def backlog_bytes(self) -> int:
        return self.waiting

    def send_rtp(self, packets: Iterable[bytes]) -> None:
        new = list(packets)
        self.packets += new
        self.waiting += sum(map(len, new)) if self.is_stuck else 0

    def send_rtcp(self, packet: bytes) -> None:
        self.reports.append(packet)


class Show:
    """One source and two viewers of it."""

    def __init__(self) -> None:
        self.source = PatternSource(320, 240)
        broadcast = Broadcast(self.source, "main_video", Codec.VP8)
        self.lines = [Line(), Line()]
        parsed = parse_offer(offer(video("0")), max_bytes=10**6, max_sections=4)
        plan = negotiate(parsed, None, [VIDEO]).sections[0]
        self.tracks = [
            OutboundTrack(
                plan,
                broadcast,
                line,
                clock=SystemClock(),
                cname="c",
                max_backlog_bytes=LIMIT,
            )
            for line in self.lines
        ]
        for track in self.tracks:
            track.resume()

    @property
    def slow_hold(self) -> Hold:
        return self.source.holds[0]


async def test_a_viewer_whose_packets_do_not_leave_is_cut_and_nobody_else_notices() -> None:
    show = Show()
    slow, quick = show.tracks
    show.lines[0].is_stuck = True
    for _ in range(20):
        show.source.show(noise=True)
    assert (slow.flow, slow.counters.cuts) == (Flow.AWAITING_KEY, 1)
    assert slow.counters.frames + slow.counters.dropped == 20
    assert show.lines[0].waiting < LIMIT + 100_000  # the bound, and the picture that passed it
    assert (quick.flow, quick.counters.cuts, quick.counters.frames) == (Flow.FLOWING, 0, 20)
    assert show.slow_hold.key_requests == []  # no use while nothing leaves


async def test_a_drained_viewer_goes_on_at_a_key_frame() -> None:
    show = Show()
    slow, line = show.tracks[0], show.lines[0]
    line.is_stuck = True
    while slow.flow is not Flow.AWAITING_KEY or not slow.counters.cuts:
        show.source.show(noise=True)
    line.is_stuck, line.waiting = False, 0
    sent = len(line.packets)
    show.source.show()
    assert len(line.packets) == sent
    assert show.slow_hold.key_requests == [True]
    show.source.show()
    assert show.tracks[0].flow is Flow.FLOWING
    resumed = parse_rtp(line.packets[sent])
    assert resumed.sequence == (parse_rtp(line.packets[sent - 1]).sequence + 1) & 0xFFFF


async def test_a_viewer_that_joins_while_others_wait_to_leave_begins_when_they_have() -> None:
    show = Show()
    track, line = show.tracks[0], show.lines[0]
    line.waiting = LIMIT // 2  # pictures of another track
    show.source.show()
    assert (track.flow, line.packets) == (Flow.AWAITING_KEY, [])
    line.waiting = 0
    show.source.show()
    show.source.show()
    assert (track.flow, track.counters.frames) == (Flow.FLOWING, 1)


async def test_who_resumes_over_and_over_is_not_served_at_once() -> None:
    show = Show()
    track = show.tracks[0]
    for _ in range(3):
        track.pause()
        track.resume()
    assert [hold.is_urgent for hold in show.source.holds] == [True, False]  # the other's first
    show.source.show()
    assert track.flow is Flow.FLOWING


async def test_the_first_picture_brings_the_clock_with_it() -> None:
    show = Show()
    assert show.lines[0].reports == []
    show.source.show()
    assert len(show.lines[0].reports) == 1


async def test_a_frame_is_packetised_once() -> None:
    show = Show()
    show.source.show()
    first, second = ([parse_rtp(p) for p in line.packets] for line in show.lines)
    assert [p.payload for p in first] == [p.payload for p in second]
    assert [p.timestamp for p in first] == [p.timestamp for p in second]
    assert first[0].ssrc != second[0].ssrc


async def test_nothing_is_sent_before_a_key_frame() -> None:
    show = Show()
    [track, _], [line, _] = show.tracks, show.lines
    track.show(
        EncodedFrame(
            track="main_video",
            codec=Codec.VP8,
            data=b"\x01delta",
            timestamp=0,
            presented_at=0.0,
            is_key=False,
            number=3,
        )
    )
    assert line.packets == []


async def test_a_viewer_back_from_a_long_cut_gets_a_key_frame_instead_of_the_past() -> None:
    show = Show()
    track, line = show.tracks[0], show.lines[0]
    for _ in range(70):
        show.source.show()
    lost = tuple(parse_rtp(packet).sequence for packet in line.packets[1:])
    sent = len(line.packets)
    track.send_again(lost[-2:])
    assert (len(line.packets) - sent, show.slow_hold.key_requests) == (2, [])
    track.send_again(lost)
    assert (len(line.packets) - sent, show.slow_hold.key_requests) == (2, [False])
    show.source.show()
    track.send_again(lost)
    assert show.slow_hold.key_requests == [False]  # asked again while the key frame is on its way


async def test_another_rung_begins_at_its_key_frame_and_nothing_is_missed() -> None:
    show = Show()
    track, other = show.tracks
    line = show.lines[0]
    for _ in range(3):
        show.source.show()
    track.footing.move_to(Rung.LOW)
    track.footing.move_to(Rung.LOW)
    assert track.footing.rung is Rung.TOP
    assert len(show.source.holds) == 3  # its own, the other's, and the one it waits for
    for _ in range(4):
        show.source.show()
    assert (track.footing.rung, other.footing.rung) == (Rung.LOW, Rung.TOP)
    assert sorted(str(hold.key.rung) for hold in show.source.holds) == ["low", "top"]
    assert (track.counters.falls, track.counters.climbs) == (1, 0)
    packets = [parse_rtp(packet) for packet in line.packets]
    numbers = [packet.sequence for packet in packets]
    assert numbers == [(numbers[0] + step) & 0xFFFF for step in range(len(numbers))]
    assert {packet.ssrc for packet in packets} == {track.ids.ssrc}
    times = [packet.timestamp for packet in packets]
    steps = [(b - a) & 0xFFFFFFFF for a, b in itertools.pairwise(times)]
    # The moment of the change comes twice, once from each rung, and no moment is missing.
    assert [step for step in steps if step] == [3000, 3000, 3000, 1, 2999, 3000, 3000]
    ids = [vp8_picture_id(packet.payload) for packet in packets if packet.marker]
    assert [(b - a) % 0x8000 for a, b in itertools.pairwise(ids)] == [1] * (len(ids) - 1)


async def test_a_change_of_mind_costs_nothing() -> None:
    show = Show()
    track = show.tracks[0]
    show.source.show()
    track.footing.move_to(Rung.LOW)
    track.footing.move_to(Rung.TOP)
    assert len(show.source.holds) == 2
    show.source.show()
    assert (track.footing.rung, track.counters.falls) == (Rung.TOP, 0)


async def test_who_is_paused_comes_back_on_the_rung_of_its_link() -> None:
    show = Show()
    track = show.tracks[0]
    show.source.show()
    track.footing.move_to(Rung.LOW)
    track.pause()
    assert len(show.source.holds) == 1
    track.footing.move_to(Rung.LOW)
    track.resume()
    assert track.footing.rung is Rung.LOW
    show.source.show()
    assert (track.flow, track.counters.falls) == (Flow.FLOWING, 1)
    ids = [vp8_picture_id(parse_rtp(packet).payload) for packet in show.lines[0].packets]
    assert (ids[-1] - ids[0]) % 0x8000 == 1  # as after any change of rungs


async def test_those_above_are_not_hurried_by_who_climbs() -> None:
    show = Show()
    track = show.tracks[0]
    track.footing.move_to(Rung.LOW)
    show.source.show()
    show.source.show()
    assert track.footing.rung is Rung.LOW
    track.footing.move_to(Rung.TOP)
    assert [hold.is_urgent for hold in show.source.holds] == [True, True, False]


async def test_padding_repeats_what_was_sent_and_is_no_new_picture() -> None:
    show = Show()
    track, line = show.tracks[0], show.lines[0]
    track.padding = lambda now: 3.0
    for _ in range(5):
        show.source.show()
    packets = [parse_rtp(packet) for packet in line.packets]
    own = [packet for packet in packets if packet.ssrc == track.ids.ssrc]
    padding = [packet for packet in packets if packet.ssrc == track.ids.rtx]
    later = own[-4:]  # a key frame is large enough by itself
    assert sum(len(packet.payload) - 2 for packet in padding) == 3 * sum(
        len(packet.payload) for packet in later
    )
    sent = {(packet.sequence, packet.payload) for packet in later}
    again = {(int.from_bytes(p.payload[:2], "big"), p.payload[2:]) for p in padding}
    assert again == sent
    assert track.counters.packets == len(own)
    assert show.tracks[1].counters.padding_octets == 0
