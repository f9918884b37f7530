import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.webrtc.candidates import EarlyCandidates, parse_candidate, read_candidates

LINE = "candidate:1 1 udp 2122260223 192.0.2.7 51234 typ host generation 0 ufrag AbCd network-id 1"


def test_a_host_candidate_is_read() -> None:
    for text in (LINE, f"a={LINE}", LINE.removeprefix("candidate:"), LINE.replace("udp", "UDP")):
        found = parse_candidate(text)
        assert found is not None
        assert (found.host, found.port, found.kind, found.ufrag) == (
            "192.0.2.7", 51234, "host", "AbCd",
        )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        "candidate:",
        LINE.replace("192.0.2.7", "0b8f9c1e-1d2c-4f6e.local"),
        LINE.replace("udp", "tcp"),
        LINE.replace(" 1 udp", " 2 udp"),
        LINE.replace("192.0.2.7", "0.0.0.0"),
        LINE.replace("192.0.2.7", "224.0.0.1"),
        LINE.replace("192.0.2.7", "255.255.255.255"),
        LINE.replace("51234", "0"),
        LINE.replace("51234", "70000"),
        LINE.replace("51234", "-1"),
        LINE.replace("typ host", "typ other"),
        LINE.replace("2122260223", "99999999999"),
        LINE + " x" * 1000,
    ],
)
def test_useless_candidates_are_none(text: str) -> None:
    assert parse_candidate(text) is None


@given(st.text(max_size=200))
def test_junk_never_raises(text: str) -> None:
    parse_candidate(text)


def test_entries_without_text_are_passed_over() -> None:
    entries: list[dict[str, object]] = [
        {"candidate": None},
        {},
        {"candidate": 5},
        {"candidate": LINE},
    ]
    assert [c.host for c in read_candidates(entries)] == ["192.0.2.7"]


def test_early_candidates_wait_for_their_offer() -> None:
    early = EarlyCandidates()
    [candidate] = read_candidates([{"candidate": LINE}])
    early.keep(5000, [candidate])
    assert early.peek(5000) == [candidate]
    assert early.take(5000, "AbCd") == [candidate]
    assert early.take(5000, "AbCd") == []
    early.keep(5000, [candidate])
    assert early.take(5000, "other") == []


def test_early_candidates_are_bounded() -> None:
    early = EarlyCandidates(per_connection=3, connections=2)
    [candidate] = read_candidates([{"candidate": LINE}])
    for connection_id in (5000, 5001, 5002):
        early.keep(connection_id, [candidate] * 5)
    assert [len(early.peek(number)) for number in (5000, 5001, 5002)] == [0, 3, 3]
