"""RungControl: which rung of the ladder one viewer's link carries.

| sign, in what the viewer reports | what follows |
|---|---|
| a full backlog; a third of the packets lost | down at once |
| two reports in a row with a tenth lost, or packets held up and its estimate short | down |
| one with a tenth lost, where they come seldom: it tells of as long a time | down |
| quiet for 2 s, or 3 s where the last attempt failed | a probe |
| a probe that nothing was lost or held up in | up |

A probe adds padding to what the viewer gets, more and more, until it costs what the next rung
would: a link that cannot carry that shows it before a picture depends on it. Pure: time comes in as
an argument.
"""

from collections import deque
from dataclasses import dataclass
from statistics import median

from reactor_runtime.media.rung import Rung

_NEVER = float("-inf")
_SEVERE_LOSS, _LOSS, _SLIGHT_LOSS = 0.3, 0.1, 0.02
_HELD_UP_S, _LONG_HELD_UP_S = 0.25, 0.5
_PROBE_LOSS, _PROBE_HELD_UP_S = 0.08, 0.12
_STRIKES = 2
_OUTAGE_S = 2.5  # without any RTCP, where a report usually comes each second
_USUAL_REPORTS, _USUAL_GAP_S = 5, 1.0  # GStreamer's come each 2 to 7 s
_AFTER_OUTAGE_S = 2.0  # reports tell of the outage, not of the rate
_SHORTAGE_S = 3.0  # an estimate that fell counts for so long
_FELL, _SHORT = 0.97, 0.7
_BASE_GROWTH = 0.02  # per report, towards a longer round trip: the path may have changed
_FIRST_REST_S, _LAST_REST_S = 2.0, 3.0
_LAST_BLIND_REST_S = 32.0  # where a probe is the next rung itself
_STABLE_S = 10.0  # on a rung: what happened before does not count
_RAMP_S, _PROBE_S, _LONGEST_PROBE_S = 1.5, 3.0, 5.0
_FRESH_S = 1.5
_FEW_REPEATS, _REPEATED_SHARE = 8, 0.06


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport:
    """What one receiver report says of the link.

    Attributes:
        loss: Share of packets lost since the one before, 0 to 1.
        padding_loss: The same of repeated packets, which padding consists of.
        round_trip_s: There and back, ``None`` when it does not say.
    """

    loss: float
    padding_loss: float = 0.0
    round_trip_s: float | None = None


@dataclass(slots=True)
class _Probe:
    """An attempt to carry the next rung."""

    began_at: float
    sent_before: int
    asked_again: int = 0


class RungControl:
    """Decides from a viewer's reports; never from its silence.

    Args:
        can_pad: Whether the viewer takes repeated packets as padding.

    Attributes:
        rung: What the viewer shall get.
    """

    def __init__(self, *, can_pad: bool) -> None:
        self.rung = Rung.TOP
        self._can_pad = can_pad
        self._line = _Line()
        self._strikes = 0
        self._rest_s = _FIRST_REST_S
        self._changed_at = self._quiet_since = _NEVER
        self._probe: _Probe | None = None

    def padding(self, now: float) -> float:
        """Return the bytes of padding to send with each byte of pictures."""
        if self._probe is None:
            return 0.0
        ratio = self.rung.above.bitrate_share / self.rung.bitrate_share
        progress = min(1.0, (now - self._probe.began_at) / _RAMP_S)
        return float(ratio**progress) - 1.0

    def note_heard(self, now: float) -> None:
        """Note that the viewer has sent RTCP, whatever it says: its network is not away."""
        self._line.hear(now)

    def note_report(self, report: LinkReport, now: float) -> None:
        """Take a receiver report."""
        has_said = self._line.note(report, now)
        if not has_said:
            self._fail_probe(now)
            return
        if self._probe is not None and self._line.is_full(report):
            self._fail_probe(now)
        if report.loss < _LOSS and not self._line.is_congested(report, now):
            self._strikes = 0
            return
        tells_long = report.loss >= _LOSS and self._line.usual_gap_s >= _STRIKES * _USUAL_GAP_S
        self._strikes += _STRIKES if tells_long else 1
        self._quiet_since = now
        self._fail_probe(now)
        if report.loss >= _SEVERE_LOSS or self._strikes >= _STRIKES:
            self._go_down(now)

    def note_estimate(self, estimate_bps: float, sent_bps: float, now: float) -> None:
        """Take what the viewer believes its link carries, and what it was sent lately."""
        if self._line.note_estimate(estimate_bps, sent_bps, now):
            self._fail_probe(now)  # on a link with room it would have grown

    def note_asked_again(self, packets: int, sent: int, now: float) -> None:
        """Take a request for lost packets; *sent* is how many have been sent in all."""
        if self._probe is not None:
            self._probe.asked_again += packets
            share = self._probe.asked_again / max(1, sent - self._probe.sent_before)
            if self._probe.asked_again >= _FEW_REPEATS and share >= _REPEATED_SHARE:
                self._fail_probe(now)

    def note_cut(self, now: float) -> None:
        """Note that the viewer's packets did not leave."""
        self._quiet_since = now
        self._fail_probe(now)
        self._go_down(now)

    def tick(self, sent: int, now: float) -> None:
        """Let time pass; *sent* is how many packets have been sent in all."""
        if self.rung is Rung.TOP:
            if now - self._changed_at >= _STABLE_S:
                self._rest_s = _FIRST_REST_S
        elif self._probe is not None:
            self._end_probe(self._probe, now)
        elif now - max(self._quiet_since, self._changed_at) >= self._rest_s:
            if not self._line.is_fresh(now):
                return
            if self._can_pad:
                self._probe = _Probe(now, sent)
            else:
                self._go_up(now)

    def _end_probe(self, probe: _Probe, now: float) -> None:
        lasted = now - probe.began_at
        if lasted >= _PROBE_S and self._line.is_fresh(now):
            self._go_up(now)
        elif lasted >= max(_LONGEST_PROBE_S, _PROBE_S + 2 * self._line.usual_gap_s):
            self._fail_probe(now)

    def _fail_probe(self, now: float) -> None:
        if self._probe is not None:
            self._probe, self._quiet_since = None, now
            self._rest_longer()

    def _rest_longer(self) -> None:
        longest = _LAST_REST_S if self._can_pad else _LAST_BLIND_REST_S
        self._rest_s = min(2 * self._rest_s, longest)

    def _go_down(self, now: float) -> None:
        if self.rung.below is self.rung:
            return
        if now - self._changed_at < _STABLE_S:
            self._rest_longer()
        self._move(self.rung.below, now)

    def _go_up(self, now: float) -> None:
        self._move(self.rung.above, now)

    def _move(self, rung: Rung, now: float) -> None:
        self.rung, self._probe, self._strikes = rung, None, 0
        self._changed_at = now


class _Line:
    """What reports have said of the link lately."""

    def __init__(self) -> None:
        self._base_s: float | None = None
        self._reported_at: float | None = None
        self._gaps: deque[float] = deque(maxlen=_USUAL_REPORTS)
        self._heard_at: float | None = None
        self._was_away = False
        self._deaf_until = _NEVER
        self._estimate: float | None = None
        self._short_until = _NEVER

    def hear(self, now: float) -> None:
        """Take a sign of life: after an outage the next report, and more, are of that."""
        if self._heard_at is not None:
            limit_s = _OUTAGE_S * max(_USUAL_GAP_S, self.usual_gap_s)
            if now - self._heard_at > limit_s:
                self._was_away, self._deaf_until = True, now + _AFTER_OUTAGE_S
        self._heard_at = now

    def note(self, report: LinkReport, now: float) -> bool:
        """Take a report, and return whether it says anything of the rate."""
        self.hear(now)
        if self._reported_at is not None:
            self._gaps.append(now - self._reported_at)
        self._reported_at = now
        trip = report.round_trip_s
        if trip is not None:
            base = trip if self._base_s is None else self._base_s
            self._base_s = min(trip, base + _BASE_GROWTH * (trip - base))
        was_away, self._was_away = self._was_away, False
        return not was_away and now >= self._deaf_until

    @property
    def usual_gap_s(self) -> float:
        """Seconds from one report to the next, mostly: an outage now and then does not count."""
        return median(self._gaps) if self._gaps else _USUAL_GAP_S

    def _held_up_s(self, report: LinkReport) -> float:
        if report.round_trip_s is None or self._base_s is None:
            return 0.0
        return report.round_trip_s - self._base_s

    def is_full(self, report: LinkReport) -> bool:
        """Return whether a probe has filled the link: a guess is enough, it costs little."""
        is_held_up = self._held_up_s(report) >= _PROBE_HELD_UP_S
        return is_held_up or max(report.loss, report.padding_loss) >= _PROBE_LOSS

    def is_congested(self, report: LinkReport, now: float) -> bool:
        """Return whether packets are held up, and not only by a busy receiver."""
        held_up = self._held_up_s(report)
        if self._estimate is None:
            return held_up >= _LONG_HELD_UP_S
        is_short = now < self._short_until
        return is_short and (held_up >= _HELD_UP_S or report.loss >= _SLIGHT_LOSS)

    def is_fresh(self, now: float) -> bool:
        """Return whether the last report is of now."""
        return self._reported_at is not None and now - self._reported_at <= _FRESH_S

    def note_estimate(self, estimate_bps: float, sent_bps: float, now: float) -> bool:
        """Take an estimate, and return whether it fell, and is below what is sent."""
        before, self._estimate = self._estimate, estimate_bps
        if before is None or estimate_bps >= before or estimate_bps >= _SHORT * sent_bps:
            return False
        if estimate_bps < _FELL * before:
            self._short_until = now + _SHORTAGE_S
        return True
