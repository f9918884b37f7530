import itertools
from collections.abc import Sequence

import pytest

from reactor_runtime.media.encoded_frame import Codec
from reactor_runtime.webrtc.broadcast import PacketizedFrame
from reactor_runtime.webrtc.packetizer import Vp8Packetizer, make_packetizer, vp8_picture_id
from reactor_runtime.webrtc.seam import Seam


def picture(payloads: Sequence[bytes], timestamp: int) -> PacketizedFrame:
    return PacketizedFrame(
        payloads=payloads,
        timestamp=timestamp,
        presented_at=0.0,
        is_key=True,
        size_bytes=sum(map(len, payloads)),
    )


def test_who_never_changes_gets_what_is_shared() -> None:
    seam = Seam(Codec.VP8)
    shared = picture(Vp8Packetizer().packetize(b"x" * 3000), 90)
    assert seam.join(shared) is shared
    seam = Seam(Codec.VP8)
    seam.open()  # before the first picture: there is nothing to be joined to
    assert seam.join(shared) is shared


def test_picture_ids_go_on_over_every_change_of_rungs() -> None:
    rungs = [Vp8Packetizer(), Vp8Packetizer()]
    seam, ids, bodies = Seam(Codec.VP8), [], []
    for number in range(40):
        if number % 10 == 5:
            seam.open()
        made = rungs[number // 5 % 2].packetize(bytes([number]) * 2500)
        sent = seam.join(picture(made, 3000 * number))
        assert len({vp8_picture_id(each) for each in sent.payloads}) == 1
        assert [each[0] for each in sent.payloads] == [0x90, 0x80, 0x80]
        ids.append(vp8_picture_id(sent.payloads[0]))
        bodies.append(b"".join(each[4:] for each in sent.payloads))
        if number % 10 == 9:
            seam.open()
    assert [(b - a) % 0x8000 for a, b in itertools.pairwise(ids)] == [1] * 39
    assert bodies == [bytes([number]) * 2500 for number in range(40)]


@pytest.mark.parametrize(
    ("before", "after", "sent"),
    [(1000, 4000, 4000), (1000, 1000, 1001), (1000, 900, 1001), (0xFFFFFFFF, 0xFFFFFFFF, 0)],
)
def test_a_moment_that_was_shown_gets_the_next_time_stamp(
    before: int, after: int, sent: int
) -> None:
    seam = Seam(Codec.H264)
    seam.join(picture([b"\x41a"], before))
    seam.open()
    joined = seam.join(picture([b"\x65b"], after))
    assert (joined.timestamp, list(joined.payloads)) == (sent, [b"\x65b"])


def test_an_empty_picture_is_no_end_of_a_seam() -> None:
    seam, packetizer = Seam(Codec.VP8), make_packetizer(Codec.VP8)
    first = seam.join(picture(packetizer.packetize(b"a"), 0))
    seam.open()
    assert seam.join(picture((), 0)).payloads == ()
    second = seam.join(picture(Vp8Packetizer().packetize(b"b"), 0))
    assert vp8_picture_id(second.payloads[0]) == (vp8_picture_id(first.payloads[0]) + 1) % 0x8000
