"""The three shapes of a body, and what ends and begins a step."""

import pytest
from tests.compat.adapters.breaks_in_a_step import BreaksInAStep
from tests.compat.adapters.decides_about_errors import DecidesAboutErrors
from tests.compat.adapters.ends_and_begins_again import EndsAndBeginsAgain
from tests.compat.adapters.loops_by_itself import LoopsByItself
from tests.compat.adapters.loops_over_turns import LoopsOverTurns
from tests.compat.adapters.raises_in_finally import RaisesInFinally
from tests.compat.adapters.reports_its_steps import ReportsItsSteps
from tests.compat.adapters.shards_its_picture import ShardsItsPicture
from tests.compat.adapters.steps_by_hooks import StepsByHooks
from tests.compat.adapters.talks_before_it_shows import TalksBeforeItShows
from tests.compat.adapters.uses_older_paths import UsesOlderPaths
from tests.compat.adapters.yields_and_idles import YieldsAndIdles
from tests.compat.adapters.yields_asynchronously import YieldsAsynchronously
from tests.compat.conftest import Play, everywhere, in_process, places, under_the_kit

from reactor_runtime import CommandError
from reactor_runtime.testing import ModelFailedError


@everywhere
def test_a_refused_step_is_asked_again(play: Play) -> None:
    client = play(StepsByHooks).connect()
    client.send("set_ready", ready=True)
    client.see(40)
    client.send("set_level", level=160)
    client.see(160)


def test_older_import_paths_and_the_older_name_of_the_class(play: Play) -> None:
    client = play(UsesOlderPaths).connect()
    client.see(80)
    told = client.send("tell")
    assert told is not None
    assert told.name == "told"
    assert told.body == {"commands": ["set_level", "tell"], "weights": "some-model"}
    with pytest.raises(CommandError, match="there is no more") as refusal:
        client.send("tell", more=True)
    assert refusal.value.code == "enough"


def test_a_plain_generator_may_have_nothing_to_show(play: Play) -> None:
    client = play(YieldsAndIdles).connect()
    client.see(60, 60)
    client.send("set_level", level=200)
    client.see(200)


@everywhere
def test_an_asynchronous_generator_is_closed_when_the_last_client_leaves(play: Play) -> None:
    stage = play(YieldsAsynchronously)
    first = stage.connect()
    assert first.hear("phase") == {"name": "opened"}
    first.see(70)
    first.send("set_level", level=140)
    first.see(140)
    first.leave()
    second = stage.connect()  # the state is the same one, the generator a new one
    while (phase := second.hear("phase")["name"]) != "opened":
        assert phase == "closed 140"  # said while the second was coming
    second.see(140)


def test_a_generator_that_ends_is_begun_again(play: Play) -> None:
    client = play(EndsAndBeginsAgain).connect()
    client.see(40, 60, 80)
    client.see(20)


@in_process
def test_a_generator_that_fails_when_it_ends_by_itself_ends_its_session(play: Play) -> None:
    stage = play(RaisesInFinally)
    client = stage.connect()
    client.see(90)
    client.send("set_fails", fails=True)
    client.send("set_finish", finish=True)
    assert "OSError" in client.error()
    assert stage.logged("the cleaning up failed").count("Traceback (most recent call last)") == 1
    stage.connect().see(90)


def test_one_that_fails_when_its_session_ends_is_logged_and_ends_nothing(play: Play) -> None:
    stage = play(RaisesInFinally)
    for _ in range(4):
        client = stage.connect()
        client.send("set_fails", fails=True)
        client.see(90)
        stage.end_session()
        stage.logged("the cleaning up failed")


@in_process
def test_a_loop_of_its_own_is_paced_by_emit_and_lets_handlers_in(play: Play) -> None:
    client = play(LoopsByItself).connect()
    client.see(50)
    answer = client.send("count")
    assert answer is not None
    assert answer.body["loops"] >= 1
    client.send("set_level", level=150)
    client.see(150)


@places("kit_2")
def test_on_ranks_a_loop_of_its_own_is_refused_with_the_lines_to_change(play: Play) -> None:
    with pytest.raises(ModelFailedError, match="turns") as refusal:
        play(LoopsByItself)
    assert "async for turn in self.turns()" in str(refusal.value)


def test_a_loop_over_turns(play: Play) -> None:
    client = play(LoopsOverTurns).connect()
    client.see(50)
    client.send("set_level", level=150)
    client.see(150)


def test_a_loop_reports_its_steps(play: Play) -> None:
    client = play(ReportsItsSteps).connect()
    client.send("set_level", level=110)
    client.see(110, 110)
    for name in ("result.json", "output.mp4", "a/b", ".."):
        with pytest.raises(CommandError):
            client.send("name_a_file", name=name)
    assert client.send("name_a_file", name="mesh.bin") is None


def test_messages_of_a_step_come_before_its_frames(play: Play) -> None:
    client = play(TalksBeforeItShows).connect()
    for _ in range(3):
        said = client.hear("caption")
        assert said["more"] == {"all": [said["grey"]]}
        client.see(int(said["grey"]))


@in_process
def test_an_exception_ends_its_session_loudly_and_no_other(play: Play) -> None:
    stage = play(BreaksInAStep)
    client = stage.connect()
    client.see(75)
    client.send("set_breaks", breaks=True)
    assert "ZeroDivisionError" in client.error()
    assert stage.logged("broke on purpose").count("Traceback (most recent call last)") == 1
    stage.connect().see(75)


@places("kit_2", "peer_2")
def test_on_ranks_an_exception_is_told_before_the_ranks_go(play: Play) -> None:
    stage = play(BreaksInAStep)
    client = stage.connect()
    client.see(75)
    client.send("set_breaks", breaks=True)
    assert "ZeroDivisionError" in client.error()
    stage.logged("broke on purpose")


def test_process_output_decides_what_a_failed_step_comes_to(play: Play) -> None:
    client = play(DecidesAboutErrors).connect()
    client.see(50)
    client.send("set_fails", fails=True)
    client.see(180)
    client.send("set_fails", fails=False)
    client.see(50)


@everywhere
def test_each_rank_may_paint_its_part(play: Play) -> None:
    client = play(ShardsItsPicture).connect()
    client.see(100)
    client.send("set_level", level=200)
    client.see(200)


@under_the_kit
def test_a_step_s_files_are_kept(serve_model, place: str) -> None:  # type: ignore[no-untyped-def]
    served = serve_model(DecidesAboutErrors, world_size=2 if place == "kit_2" else 1)
    client = served.connect()
    client.send("set_fails", {"fails": True})
    client.frames("main_video")
    (step,) = [step for step in served.steps if not step.idle][:1]
    assert step.files == {"why.txt": b"no picture this time"}
    assert step.error == "ArithmeticError"
