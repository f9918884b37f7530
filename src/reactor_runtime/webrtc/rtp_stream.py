"""RtpStream: one outbound stream of one viewer, with what it may ask again."""

import secrets
from collections.abc import Sequence

from reactor_runtime.webrtc.broadcast import PacketizedFrame
from reactor_runtime.webrtc.negotiation import SectionPlan
from reactor_runtime.webrtc.rtp_writer import RepeatWriter, RtpWriter
from reactor_runtime.webrtc.seam import Seam
from reactor_runtime.webrtc.sent_pictures import SentPictures
from reactor_runtime.webrtc.session_answer import StreamIds

_MOST_PADDING = 60  # packets at once


class RtpStream:
    """Makes a viewer's own packets from shared pictures.

    Attributes:
        ids: The SSRCs the answer announces.
    """

    def __init__(self, plan: SectionPlan) -> None:
        choice, mid = plan.choice, plan.section.mid
        assert choice is not None
        ssrc, rtx = secrets.randbits(32) | 1, None
        self._is_video = choice.codec.is_video
        self._writer = RtpWriter(ssrc, choice.payload_type, mid, plan.extensions)
        self._repeats: RepeatWriter | None = None
        if choice.rtx_payload_type is not None:
            rtx = ssrc ^ 0x5A5A5A5A  # any other number
            self._repeats = RepeatWriter(rtx, choice.rtx_payload_type, mid, plan.extensions)
        self._sent = SentPictures()
        self._seam = Seam(choice.codec)
        self.ids = StreamIds(ssrc=ssrc, rtx=rtx)

    def show_at_once(self) -> None:
        """Ask the receiver, in every packet from now on, not to smooth pictures."""
        self._writer.is_prompt = True

    def change_rung(self) -> None:
        """Note that the next picture comes from another encoder."""
        self._seam.open()

    def packets(self, picture: PacketizedFrame, now_s: float) -> list[bytes]:
        """Return the RTP packets of *picture*."""
        picture = self._seam.join(picture)
        if self._is_video:
            self._sent.add(self._writer.next_sequence, picture)
        return self._writer.write(
            picture.payloads, picture.timestamp, now_s, marks_end=self._is_video
        )

    def padding(self, size_bytes: int, now_s: float) -> list[bytes]:
        """Return the packets of the last picture over and over: about *size_bytes* in all.

        None where the receiver could not tell them from new ones.
        """
        last = self._sent.last
        if self._repeats is None or last is None or not last[1].payloads:
            return []
        first, picture = last
        packets: list[bytes] = []
        while size_bytes > 0 and len(packets) < _MOST_PADDING:
            index = len(packets) % len(picture.payloads)
            payload, number = picture.payloads[index], first + index & 0xFFFF
            is_last = index == len(picture.payloads) - 1
            packets.append(
                self._repeats.write(payload, number, picture.timestamp, now_s, marker=is_last)
            )
            size_bytes -= len(payload)
        return packets

    def worth_a_look(self, sequences: Sequence[int], now_s: float) -> Sequence[int]:
        """Return those of the lost packets *sequences* that there is time to look for."""
        return self._sent.worth_a_look(sequences, now_s)

    def breaks_off_at(self, sequence: int) -> bool:
        """Return whether only a new key frame helps a viewer that lacks packet *sequence*."""
        return self._sent.breaks_off_at(sequence)

    def repeat(self, sequence: int, now_s: float, round_trip_s: float = 0.0) -> bytes | None:
        """Return the lost packet *sequence* once more, ``None`` when it cannot be had.

        Nor is it when it was repeated less than *round_trip_s* ago.
        """
        lost = self._sent.find(sequence, now_s, round_trip_s)
        if lost is None:
            return None
        again = self._repeats.write if self._repeats is not None else self._writer.write_again
        return again(lost.payload, sequence, lost.timestamp, now_s, marker=lost.is_last)
