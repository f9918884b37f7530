import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.http.byte_range import read_range


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("bytes=0-", range(100)),
        ("bytes=0-0", range(1)),
        ("bytes=10-19", range(10, 20)),
        ("Bytes= 90-500 ", range(90, 100)),
        ("bytes=-1", range(99, 100)),
        ("bytes=-500", range(100)),
        ("bytes=99-99", range(99, 100)),
    ],
)
def test_one_range_is_understood(header: str | None, wanted: range) -> None:
    assert read_range(header, 100) == wanted


@pytest.mark.parametrize("header", ["bytes=100-", "bytes=100-200", "bytes=-0", "bytes=999999999-"])
def test_of_what_is_not_there_nothing_can_be_had(header: str) -> None:
    assert read_range(header, 100) == range(0)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "bytes=",
        "bytes=-",
        "bytes=5-2",
        "bytes=0-1,5-6",
        "rows=0-1",
        "bytes=a-b",
        "bytes=٣-",
    ],
)
def test_what_is_not_understood_is_ignored(header: str | None) -> None:
    assert read_range(header, 100) is None


@given(st.text(), st.integers(1, 10**9))
def test_any_header_gives_bytes_that_are_there(header: str, total: int) -> None:
    wanted = read_range(f"bytes={header}", total)
    assert not wanted or 0 <= wanted.start < wanted.stop <= total
