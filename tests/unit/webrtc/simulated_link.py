"""A viewer behind a link, in time that a test moves: what the ladder does on it.

::

    frames ─► OutboundMedia ─► cap, queue, loss, delay ─► receiver (loss, REMB, NACK, PLI, reports)
                   ▲                                                            │
                   └───────────────────────── delay ◄──────────────────────────┘

The receiver estimates its bandwidth as aiortc does, and asks again as browsers do. Nothing here is
decoded: a picture is shown when all of it is there, and all since its key frame was.
"""

import heapq
import itertools
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from aiortc.rate import RemoteBitrateEstimator
from tests.unit.webrtc.offers import offer, video
from tests.unit.webrtc.viewer import VIDEO

from reactor_runtime.media.encoded_frame import EncodedFrame
from reactor_runtime.media.key_requests import KeyRequests
from reactor_runtime.media.rendition import Rendition
from reactor_runtime.media.rung import Rung
from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.webrtc.broadcast import Broadcasts
from reactor_runtime.webrtc.media_port import MediaPort
from reactor_runtime.webrtc.negotiation import negotiate
from reactor_runtime.webrtc.outbound_media import OutboundMedia
from reactor_runtime.webrtc.rtcp_packets import (
    ReportBlock,
    SenderReport,
    parse_rtcp,
    write_bitrate_estimate,
    write_key_request,
    write_nack,
    write_receiver_report,
)
from reactor_runtime.webrtc.rtp_packet import RtpPacket, Unwrapper, parse_rtp
from reactor_runtime.webrtc.session_offer import parse_offer

FPS, TOP_BPS, KEY_FRAMES_LIKE = 24, 3_500_000, 3
_STAMP = "a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time\r\n"
_NO_RTX = "a=rtpmap:96 VP8/90000\r\na=rtcp-fb:96 nack\r\na=rtcp-fb:96 nack pli\r\n"
_OVERHEAD_BYTES = 38  # UDP, IP and SRTP
_NACK_EVERY_S, _NACK_TIMES, _PLI_AFTER_S = 0.1, 10, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What the link does."""

    bits_per_s: float = 100e6
    queue_s: float = 0.3
    loss: float = 0.0
    delay_s: float = 0.02


class Events:
    """What happens when, in the order of time."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._numbers = itertools.count()
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []

    def at(self, when: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._waiting, (when, next(self._numbers), what))

    def run_until(self, when: float) -> None:
        while self._waiting and self._waiting[0][0] <= when:
            due, _, what = heapq.heappop(self._waiting)
            self._clock.jump(max(0.0, due - self._clock.now()))
            what()
        self._clock.jump(max(0.0, when - self._clock.now()))


class Source:
    """Frames of the size that their rung is given, and key frames for who joins or asks."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._number = 0
        self.holds: list[SourceHold] = []
        self.made = dict.fromkeys(Rung, 0)
        self.keys = {rung: KeyRequests() for rung in Rung}

    def subscribe(self, rendition: Rendition, sink: Any, *, urgent: bool = True) -> "SourceHold":
        hold = SourceHold(self, rendition, sink)
        self.holds.append(hold)
        hold.request_key(urgent)
        return hold

    def now(self) -> float:
        return self._clock.now()

    def show(self) -> None:
        """Make a frame of each rung that somebody holds."""
        for rung in Rung:
            holds = [hold for hold in self.holds if hold.rendition.rung is rung]
            if not holds:
                continue
            self.made[rung] += 1
            due = self.keys[rung].due
            is_key = due is not None and due <= self._clock.now()
            size = int(TOP_BPS * rung.bitrate_share / FPS / 8) * (KEY_FRAMES_LIKE if is_key else 1)
            frame = EncodedFrame(
                track="main_video",
                codec=holds[0].rendition.codec,
                rung=rung,
                data=bytes(size),
                timestamp=self._number * 90_000 // FPS,
                presented_at=self._clock.now(),
                is_key=is_key,
                number=self._number,
            )
            if is_key:
                self.keys[rung].made(self._clock.now())
            for hold in holds:
                hold.is_waiting = hold.is_waiting and not is_key
                if hold in self.holds and not hold.is_waiting:
                    hold.sink(frame)
        self._number += 1


@dataclass(eq=False)
class SourceHold:
    """One subscription."""

    source: Source
    rendition: Rendition
    sink: Any
    is_waiting: bool = True

    def request_key(self, urgent: bool = False) -> None:
        keys = self.source.keys[self.rendition.rung]
        keys.ask(id(self), self.source.now(), urgent=urgent)

    def close(self) -> None:
        if self in self.source.holds:
            self.source.holds.remove(self)
            self.source.keys[self.rendition.rung].forget(id(self))


class Wire(MediaPort):
    """The way out: every packet into the link."""

    def __init__(self, clock: FakeClock, carry: Callable[[bytes, bool], None]) -> None:
        super().__init__(clock, 10_000)
        self._carry = carry

    @property
    def backlog_bytes(self) -> int:
        return 0

    def send_rtp(self, packets: Iterable[bytes]) -> None:
        for packet in packets:
            self._carry(packet, False)

    def send_rtcp(self, packet: bytes) -> None:
        self._carry(packet, True)


@dataclass
class Picture:
    """One picture as it arrives."""

    first: int
    is_key: bool
    last: int | None = None


@dataclass
class Missing:
    """A packet that was asked for."""

    since: float
    asked_at: float
    times: int = 1


@dataclass
class Receiver:
    """Reassembles, asks again, reports."""

    clock: FakeClock
    say: Callable[[bytes], None]
    ssrc: int
    rtx: int | None
    has_estimate: bool
    shown: list[float] = field(default_factory=list)
    octets: int = 0
    _numbers: Unwrapper = field(default_factory=lambda: Unwrapper(16))
    _estimator: Any = field(default_factory=RemoteBitrateEstimator)
    _packets: dict[int, RtpPacket] = field(default_factory=dict)
    _missing: dict[int, Missing] = field(default_factory=dict)
    _highest: int = -1
    _next: int | None = None
    _shown_to: int = -1
    _expected: int = -1
    _received: int = 0
    _report: tuple[int, float] = (0, 0.0)
    _repeats: list[int] = field(default_factory=list)
    _asked_key_at: float = 0.0

    def take(self, packet: bytes, is_rtcp: bool) -> None:
        now = self.clock.now()
        if is_rtcp:
            for part in parse_rtcp(packet):
                if isinstance(part, SenderReport):
                    self._report = (part.ntp_time >> 16 & 0xFFFFFFFF, now)
            return
        parsed = parse_rtp(packet)
        self.octets += len(packet)
        self._estimate(parsed, now)
        if parsed.ssrc == self.ssrc:
            self._received += 1
            self._add(self._numbers.unwrap(parsed.sequence), parsed, now)
        elif parsed.ssrc == self.rtx:
            self._repeats.append(parsed.sequence)
            number = self._numbers.unwrap(int.from_bytes(parsed.payload[:2], "big"))
            self._add(number, parsed._replace(payload=parsed.payload[2:]), now)
        self._show(now)

    def _estimate(self, packet: RtpPacket, now: float) -> None:
        found = self._estimator.add(
            abs_send_time=int.from_bytes(packet.extensions[3], "big"),
            arrival_time_ms=int(now * 1000),
            payload_size=len(packet.payload),
            ssrc=packet.ssrc,
        )
        if found is not None and self.has_estimate:
            self.say(write_bitrate_estimate(1, found[0], found[1]))

    def _add(self, number: int, packet: RtpPacket, now: float) -> None:
        if self._expected < 0:
            self._expected = number - 1
        if self._highest >= 0 and number > self._highest + 1:
            lost = range(self._highest + 1, number)
            self._missing.update({each: Missing(now, now) for each in lost})
            self._ask(lost)
        self._highest = max(self._highest, number)
        self._missing.pop(number, None)
        self._packets.setdefault(number, packet)
        for old in [each for each in self._packets if each < number - 2000]:
            del self._packets[old]

    def _ask(self, numbers: Iterable[int]) -> None:
        self.say(write_nack(1, self.ssrc, [number & 0xFFFF for number in numbers]))

    def _show(self, now: float) -> None:
        """Show every whole picture that is next, or that begins anew."""
        while True:
            start = self._next if self._next is not None else self._key()
            end = self._end(start) if start is not None else None
            if start is None or end is None:
                return
            self.shown.append(now)
            self._next, self._shown_to = end + 1, end

    def _key(self) -> int | None:
        """Return where the last key frame begins that is whole."""
        for number in sorted(self._packets, reverse=True):
            if number <= self._shown_to:
                return None
            payload = self._packets[number].payload
            is_start = payload[0] == 0x90
            size = 0
            while is_start and (part := self._packets.get(number + size)) is not None:
                size += 1
                if part.marker:
                    break
            top = TOP_BPS / FPS / 8
            sizes = [int(top * rung.bitrate_share) * KEY_FRAMES_LIKE for rung in Rung]
            whole = sum(len(self._packets[number + at].payload) - 4 for at in range(size))
            if is_start and whole in sizes:
                return number
        return None

    def _end(self, start: int) -> int | None:
        number = start
        while (packet := self._packets.get(number)) is not None:
            if packet.marker:
                return number
            number += 1
        return None

    def tick(self) -> None:
        """Ask again for what is missing, or for a key frame."""
        now = self.clock.now()
        again = []
        for number, each in list(self._missing.items()):
            if self._next is not None and number < self._next:
                del self._missing[number]
            elif each.times < _NACK_TIMES and now - each.asked_at >= _NACK_EVERY_S:
                each.asked_at, each.times = now, each.times + 1
                again.append(number)
        if again:
            self._ask(again)
        stuck = [each for each in self._missing.values() if now - each.since > _PLI_AFTER_S]
        if stuck:
            self._next = None
            self._missing.clear()
        if self._next is None and self._highest >= 0 and now - self._asked_key_at > 0.3:
            self._asked_key_at = now
            self.say(write_key_request(1, self.ssrc))
            self._show(now)

    def report(self) -> None:
        """Send a receiver report."""
        if self._highest < 0:
            return
        now = self.clock.now()
        expected = self._highest - self._expected
        lost = max(0, expected - self._received)
        stamp, heard = self._report
        block = ReportBlock(
            ssrc=self.ssrc,
            fraction_lost=min(255, 256 * lost // expected) if expected > 0 else 0,
            packets_lost=0,
            highest_sequence=self._highest,
            jitter=0,
            last_report=stamp,
            delay=int((now - heard) * 65536),
        )
        self._expected, self._received = self._highest, 0
        blocks, repeats = [block], self._repeats
        if len(repeats) > 1 and self.rtx is not None:
            expected = (repeats[-1] - repeats[0] & 0xFFFF) + 1
            lost = max(0, expected - len(repeats))
            fraction = min(255, 256 * lost // expected)
            blocks.append(block._replace(ssrc=self.rtx, fraction_lost=fraction, last_report=0))
            self._repeats = repeats[-1:]
        self.say(write_receiver_report(1, blocks))


class SimulatedLink:
    """One viewer; ``run`` lets time pass under some conditions."""

    def __init__(self, *, has_rtx: bool = True, has_estimate: bool = True, seed: int = 1) -> None:
        self.clock = FakeClock()
        self.conditions = Conditions()
        self._events, self._random = Events(self.clock), random.Random(seed)
        self._free_at = 0.0
        self.source = Source(self.clock)
        formats, codecs = ("96 97", {}) if has_rtx else ("96", {"codecs": _NO_RTX})
        text = offer(video("0", formats=formats, **codecs) + _STAMP)
        plan = negotiate(parse_offer(text, max_bytes=10**6, max_sections=4), None, [VIDEO])
        wire = Wire(self.clock, self._down)
        self.media = OutboundMedia(Broadcasts(self.source), wire, self.clock, "1")
        self.track = self.media.add(plan.sections[0], cname="c", max_backlog_bytes=192 * 1024)
        ids = self.track.ids
        self.receiver = Receiver(self.clock, self._up, ids.ssrc, ids.rtx, has_estimate)
        self.track.resume()
        self._every(1 / FPS, self.source.show)
        self._every(1.0, self.media.tick)
        self._every(0.02, self.receiver.tick)
        self._every(1.0, self.receiver.report, first=0.37)

    def _every(self, seconds: float, what: Callable[[], None], first: float = 0.0) -> None:
        def again() -> None:
            self._events.at(self.clock.now() + seconds, again)
            what()

        self._events.at(self.clock.now() + first, again)

    def _down(self, packet: bytes, is_rtcp: bool) -> None:
        now, of = self.clock.now(), self.conditions
        leaves = max(now, self._free_at) + 8 * (len(packet) + _OVERHEAD_BYTES) / of.bits_per_s
        if leaves - now > of.queue_s or self._random.random() < of.loss:
            return
        self._free_at = leaves
        self._events.at(leaves + of.delay_s, lambda: self.receiver.take(packet, is_rtcp))

    def _up(self, packet: bytes) -> None:
        def arrive() -> None:
            for part in parse_rtcp(packet):
                self.media.handle(part)

        if self._random.random() >= self.conditions.loss:
            self._events.at(self.clock.now() + self.conditions.delay_s, arrive)

    # --- what tests do and ask ---

    @property
    def rung(self) -> Rung:
        return self.track.footing.rung

    def run(self, seconds: float, conditions: Conditions | None = None) -> "Seen":
        """Let *seconds* pass; *conditions* stay until others are given."""
        if conditions is not None:
            self.conditions = conditions
        began, octets, shown = self.clock.now(), self.receiver.octets, len(self.receiver.shown)
        rungs = {self.rung}
        while self.clock.now() < began + seconds - 1e-9:
            self._events.run_until(min(began + seconds, self.clock.now() + 0.05))
            rungs.add(self.rung)
        times = self.receiver.shown[shown:]
        return Seen(
            fps=len(times) / seconds,
            bits_per_s=8 * (self.receiver.octets - octets) / seconds,
            longest_gap_s=_longest([began, *times, self.clock.now()]),
            rungs=rungs,
        )

    def seconds_until(self, rung: Rung, conditions: Conditions, limit_s: float) -> float:
        """Let time pass until the viewer gets *rung*, and return how long it took."""
        began, self.conditions = self.clock.now(), conditions
        while self.rung is not rung:
            assert self.clock.now() - began < limit_s, f"still {self.rung} after {limit_s} s"
            self._events.run_until(self.clock.now() + 0.05)
        return self.clock.now() - began


def _longest(times: list[float]) -> float:
    return max(b - a for a, b in itertools.pairwise(times))


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the viewer saw for a while."""

    fps: float
    bits_per_s: float
    longest_gap_s: float
    rungs: set[Rung]
