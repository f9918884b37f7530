from hypothesis import given
from hypothesis import strategies as st

from reactor_runtime.token_bucket import TokenBucket


def test_a_burst_then_the_rate() -> None:
    bucket = TokenBucket(rate_per_s=10, burst=3, now=0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(0.1), bucket.take(0.1)] == [True, False]
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]


@given(st.lists(st.floats(0, 0.5), max_size=200))
def test_never_more_than_burst_and_rate_allow(gaps: list[float]) -> None:
    bucket, now, taken = TokenBucket(rate_per_s=20, burst=5, now=0.0), 0.0, 0
    for gap in gaps:
        now += gap
        taken += bucket.take(now)
    assert taken <= 5 + 20 * now + 1e-6
