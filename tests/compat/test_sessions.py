"""Sessions: hooks and their order, the state's life, author threads."""

import time
from typing import Any

import pytest
from tests.compat.adapters.breaks_in_a_step import BreaksInAStep
from tests.compat.adapters.dies_in_a_thread import DiesInAThread
from tests.compat.adapters.keeps_private_state import KeepsPrivateState
from tests.compat.adapters.notes_its_life import NotesItsLife
from tests.compat.adapters.survives_broken_hooks import SurvivesBrokenHooks
from tests.compat.adapters.watches_from_a_thread import WatchesFromAThread
from tests.compat.conftest import Play, everywhere, under_the_kit
from tests.compat.stage import Client

from reactor_runtime import CommandError


def body(client: Client, command: str, **arguments: Any) -> dict[str, Any]:
    answer = client.send(command, **arguments)
    assert answer is not None
    return dict(answer.body)


@everywhere
def test_hooks_run_in_their_order_and_the_state_lives_between_them(play: Play) -> None:
    stage = play(NotesItsLife)
    first = stage.connect()
    begun = ["load", "warmup", "started 7", "connected"]
    assert body(first, "diary")["notes"] == begun
    first.send("set_level", level=9)
    stage.connect().leave()
    deadline = time.monotonic() + 20
    while body(first, "diary")["notes"][-1] != "disconnected":
        assert time.monotonic() < deadline  # a server hears of it a moment later
    stage.end_session()  # nobody else is said to have left
    third = stage.connect()
    notes = body(third, "diary")["notes"]
    assert notes == [*begun, "connected", "disconnected", "ended 9", "started 7", "connected"]


def test_a_hook_that_raises_is_logged_and_ends_nothing(play: Play) -> None:
    stage = play(SurvivesBrokenHooks)
    client = stage.connect()
    client.see(60)
    stage.connect().leave()
    client.send("set_level", level=130)
    client.see(130)
    for words in ("broken when somebody came", "broken when somebody went"):
        stage.logged(words)
    stage.end_session()
    stage.logged("broken at the end")
    stage.connect().see(60)


@under_the_kit
def test_a_start_that_raises_ends_that_session(serve_model: Any, place: str) -> None:
    served = serve_model(BreaksInAStep, world_size=2 if place == "kit_2" else 1)
    client = served.connect()
    client.send("set_spoil_the_next", {"spoil_the_next": True})
    client.frames("main_video", 3)
    served.end_session()
    with pytest.raises(Exception, match="session") as failure:
        served.connect()
    assert "spoilt beforehand" in str(failure.value.__cause__)
    assert len(served.connect().frames("main_video", 2)) == 2


def test_state_has_private_fields_and_is_the_author_s(play: Play) -> None:
    stage = play(KeepsPrivateState)
    client = stage.connect()
    shown = {"prompt": "a cat", "strength": 0.5, "mode": "day", "steps": 0}
    assert body(client, "show") == shown
    client.send("set_prompt", prompt="two cats")
    assert body(client, "set_mode", mode="any") == shown | {"prompt": "two cats", "mode": "ANY"}
    assert body(client, "poke", name="strength", value=0.25)["steps"] == 1
    client.leave()
    again = stage.connect()
    assert body(again, "show")["prompt"] == "two cats"
    assert body(again, "renew") == shown | {"prompt": "a dog"}
    for command, wrong in (
        ("set__steps", {"_steps": 1}),
        ("set_strength", {"strength": 1.5}),
        ("set_prompt", {"prompt": "x" * 41}),
    ):
        with pytest.raises(CommandError) as refusal:
            again.send(command, **wrong)
        assert refusal.value.code == "invalid_command"
    stage.end_session()
    assert body(stage.connect(), "show") == shown


def test_a_thread_may_look_at_the_state_and_is_told_when_there_is_none(play: Play) -> None:
    stage = play(WatchesFromAThread)
    stage.logged("watcher")  # no session yet
    client = stage.connect()
    assert body(client, "what_was_seen") == {"level": 3, "is_alive": True}
    stage.end_session()
    client = stage.connect()
    client.send("set_level", level=5)
    assert body(client, "what_was_seen")["is_alive"] is True


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_dies_of_it_is_named(play: Play) -> None:
    assert "unaware" in play(DiesInAThread).logged("state_read_between_sessions")
