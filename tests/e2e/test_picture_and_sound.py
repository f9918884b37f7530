"""A flash and its beep are one moment at the receiver, by RTP times and sender reports alone."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from aiortc.rtp import RtcpSrPacket
from numpy.typing import NDArray
from tests.e2e.serving import own_address, serving
from tests.e2e.wire_client import WireClient, wire_client
from tests.models.flashes_and_beeps import FPS
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

DECODER_DELAY_S = 312 / 48_000  # of Opus, which reports it as its pre-skip


class SenderClock:
    """What the server's reports say of one track: when which RTP time was.

    aiortc counts a frame's time from its track's first packet, so that one is noted as well.
    """

    def __init__(self, receiver: Any, rate: int) -> None:
        self.report: tuple[float, int] | None = None
        self._origin: int | None = None
        self._rate = rate
        self._take_report = receiver._handle_rtcp_packet
        self._take_packet = receiver._handle_rtp_packet
        receiver._handle_rtcp_packet = self._note_report
        receiver._handle_rtp_packet = self._note_packet

    async def _note_report(self, packet: Any) -> None:
        if isinstance(packet, RtcpSrPacket):
            info = packet.sender_info
            self.report = info.ntp_timestamp / 2**32, info.rtp_timestamp
        await self._take_report(packet)

    async def _note_packet(self, packet: Any, **more: Any) -> None:
        if self._origin is None:
            self._origin = packet.timestamp
        await self._take_packet(packet, **more)

    def seconds(self, pts: int) -> float:
        """Return the server's own time of a frame."""
        assert self.report is not None
        assert self._origin is not None
        wall_s, rtp_time = self.report
        since = (self._origin + pts - rtp_time + 2**31) % 2**32 - 2**31
        return wall_s + since / self._rate


def clocks(client: WireClient) -> dict[str, SenderClock]:
    rates = {"video": 90_000, "audio": 48_000}
    receivers = [t.receiver for t in client.pc.getTransceivers()]
    return {r.track.kind: SenderClock(r, rates[r.track.kind]) for r in receivers}


def rises(levels: NDArray[np.floating[Any]], limit: float) -> Iterator[int]:
    """Yield where *levels* passes *limit* upwards."""
    yield from (np.flatnonzero(np.diff((levels > limit).astype(int)) == 1) + 1).tolist()


async def test_a_flash_and_its_beep_are_one_moment() -> None:
    with serving("tests.models.flashes_and_beeps:FlashesAndBeeps") as served:
        outputs = (("main_video", "video"), ("voice", "audio"))
        async with wire_client(served.url, *outputs) as client:
            clock = clocks(client)
            pictures, sounds = client.frames["main_video"], client.frames["voice"]
            await until(lambda: all(c.report for c in clock.values()), 20)
            await until(lambda: len(pictures) > 5 * FPS and len(sounds) > 5 * 50, 20)
            greys = np.array([p.to_ndarray(format="gray").mean() for p in pictures])
            flashes = [clock["video"].seconds(pictures[at].pts) for at in rises(greys, 125)]
            heard = np.concatenate([s.to_ndarray()[0, ::2] for s in sounds]).astype(float)
            begins = np.array([s.pts for s in sounds for _ in range(10)])
            parts = np.abs(heard).reshape(-1, 96).max(axis=1)  # of 2 ms each
            offsets = np.tile(np.arange(10) * 96, len(sounds))
            beeps = [
                clock["audio"].seconds(int(begins[at] + offsets[at])) - DECODER_DELAY_S
                for at in rises(parts, 4000)
            ]
    assert len(flashes) > 3
    errors = [min((beep - flash for beep in beeps), key=abs) for flash in flashes[1:-1]]
    assert max(map(abs, errors)) < 1 / FPS / 2, errors
