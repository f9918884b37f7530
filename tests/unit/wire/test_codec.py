import pytest

from reactor_runtime.wire.codec import WireVersion, version_of


@pytest.mark.parametrize(
    "frame",
    ["", "anything", '{"scope":1}', b'{"scope":1}', b"  [1]", b"\t\r\n {}", b"{not json", b"\n{}"],
)
def test_text_and_brackets_begin_v0(frame: bytes | str) -> None:
    assert version_of(frame) is WireVersion.V0


@pytest.mark.parametrize("frame", [b"", b"   ", b"\x10\x03R\x00", b"\x0a\x06data_1\x10\x01Z\x00"])
def test_all_else_begins_v1(frame: bytes) -> None:
    assert version_of(frame) is WireVersion.V1


@pytest.mark.parametrize("length", [91, 123])
def test_a_request_id_whose_length_looks_like_a_bracket_is_still_v1(length: int) -> None:
    assert version_of(bytes([0x0A, length]) + b"i" * length + b"\x10\x01Z\x00") is WireVersion.V1
