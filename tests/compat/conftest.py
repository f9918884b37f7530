"""Where every adapter runs: under the kit and behind a server, on one rank and on two."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.compat.kit_stage import KitStage
from tests.compat.peer_stage import PeerStage
from tests.compat.stage import Stage
from tests.e2e.serving import WORLDS, serving

from reactor_runtime.interface.model import ModelContract
from reactor_runtime.testing import ModelHarness

Play = Callable[..., Stage]

RANKS = {"kit_1": 1, "kit_2": 2, "peer_1": 1, "peer_2": 2}


def places(*names: str) -> pytest.MarkDecorator:
    """Run a test in these places only."""
    assert set(names) <= set(RANKS)
    return pytest.mark.parametrize("place", names, indirect=True)


everywhere = places(*RANKS)
in_process = places("kit_1", "peer_1")
under_the_kit = places("kit_1", "kit_2")


@pytest.fixture(params=["kit_1", "kit_2", "peer_1"])
def place(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def play(place: str) -> Iterator[Play]:
    """Serve an adapter, or the model of a folder with a manifest; it is stopped after the test."""
    with ExitStack() as stack:

        def start(
            model: type[Any], folder: Path | None = None, config: Path | None = None
        ) -> Stage:
            tracks, ranks = ModelContract.of(model).tracks, RANKS[place]
            if place.startswith("kit"):
                harness = ModelHarness(
                    model, world_size=ranks, config=config, check_lockstep=ranks > 1
                )
                rates = {track.name: track.sample_rate or 0 for track in tracks}
                return KitStage(stack.enter_context(harness), ranks, rates)
            target = str(folder) if folder else f"{model.__module__}:{model.__qualname__}"
            served = stack.enter_context(serving(target, *WORLDS[ranks]))
            peers = PeerStage(served, ranks, tracks)
            stack.callback(peers.close)
            return peers

        yield start


@pytest.fixture
def author_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a test put a repository's folder on the path; afterwards its modules are forgotten."""
    import sys

    before, environment = dict(sys.modules), dict(os.environ)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in set(sys.modules) - set(before):
        if not name.startswith("reactor_runtime"):
            del sys.modules[name]
    assert dict(os.environ).keys() == environment.keys()
