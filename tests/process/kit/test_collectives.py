"""A model whose ranks meet in a gloo group, under the author's test kit."""

from collections.abc import Callable

import pytest

pytest.importorskip("torch")

from tests.models.adds_up_together import AddsUpTogether

from reactor_runtime.testing import ClientGoneError, ModelHarness

pytestmark = pytest.mark.torch
Serve = Callable[..., ModelHarness]


def test_ranks_meet_in_every_step(serve_model: Serve) -> None:
    served = serve_model(AddsUpTogether, world_size=2, init_process_group=True)
    frames = served.connect().frames("main_video", count=5)
    assert [int(frame.data[0, 0, 0]) for frame in frames] == [2] * 5


def test_a_rank_that_breaks_in_a_collective_is_named(serve_model: Serve) -> None:
    client = serve_model(AddsUpTogether, world_size=2, init_process_group=True).connect()
    client.send("break_in_step", {"way": "stay_away", "rank": 1})
    with pytest.raises(ClientGoneError, match="ZeroDivisionError") as caught:
        client.frames("main_video", count=3)
    assert "a secret detail" in str(caught.value.__cause__)
