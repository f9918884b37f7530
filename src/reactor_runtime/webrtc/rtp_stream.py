"""RtpStream: one outbound stream of one viewer, with what it may ask again."""

import secrets

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.broadcast import Picture
from reactor_runtime.webrtc.negotiation import SectionPlan
from reactor_runtime.webrtc.rtp_writer import RepeatWriter, RtpWriter
from reactor_runtime.webrtc.sent_pictures import SentPictures
from reactor_runtime.webrtc.session_answer import StreamIds


class RtpStream:
    """Makes a viewer's own packets from shared pictures.

    Attributes:
        ids: The SSRCs the answer announces.
    """

    def __init__(self, plan: SectionPlan) -> None:
        choice, mid = plan.choice, plan.section.mid
        assert choice is not None
        ssrc, rtx = secrets.randbits(32) | 1, None
        self._is_video = choice.codec is not Codec.OPUS
        self._writer = RtpWriter(ssrc, choice.payload_type, mid, plan.extensions)
        self._repeats: RepeatWriter | None = None
        if choice.rtx_payload_type is not None:
            rtx = ssrc ^ 0x5A5A5A5A
            self._repeats = RepeatWriter(rtx, choice.rtx_payload_type, mid, plan.extensions)
        self._sent = SentPictures()
        self.ids = StreamIds(ssrc=ssrc, rtx=rtx)

    def show_at_once(self) -> None:
        """Ask the receiver, in every packet from now on, not to smooth pictures."""
        self._writer.is_prompt = True

    def packets(self, picture: Picture, now_s: float) -> list[bytes]:
        """Return the RTP packets of *picture*."""
        if self._is_video:
            self._sent.add(self._writer.next_sequence, picture)
        return self._writer.write(
            picture.payloads, picture.timestamp, now_s, marks_end=self._is_video
        )

    def breaks_off_at(self, sequence: int) -> bool:
        """Return whether only a new key frame helps a viewer that lacks packet *sequence*."""
        return self._sent.breaks_off_at(sequence)

    def repeat(self, sequence: int, now_s: float) -> bytes | None:
        """Return the lost packet *sequence* once more, ``None`` when it cannot be had."""
        lost = self._sent.find(sequence, now_s)
        if lost is None:
            return None
        again = self._repeats.write if self._repeats is not None else self._writer.write_again
        return again(lost.payload, sequence, lost.timestamp, now_s, marker=lost.is_last)
