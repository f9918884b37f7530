"""The author's test kit: what a test sees of a model is the same on every host."""

import hashlib
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.models.breaks_when_told import BreaksWhenTold
from tests.models.draws_random_numbers import DrawsRandomNumbers
from tests.models.flashes_and_beeps import FlashesAndBeeps
from tests.models.hashes_files import HashesFiles
from tests.models.notes_everything import NotesEverything
from tests.models.parts import Picture, flat
from tests.models.reads_a_microphone import ReadsAMicrophone
from tests.models.refuses_and_idles import RefusesAndIdles
from tests.models.shows_what_is_asked import ShowsWhatIsAsked
from tests.models.steered import Steered
from tests.models.takes_a_config import TakesAConfig
from tests.models.takes_turns import TakesTurns
from tests.models.watches_a_camera import WatchesACamera

from reactor_runtime import CommandError, ReactorModel, UploadedFile, session_ended
from reactor_runtime.errors import (
    FrameError,
    SessionStateError,
    SessionUnavailableError,
    StartRefusedError,
    TrackError,
)
from reactor_runtime.testing import (
    ClientGoneError,
    FakeClient,
    Message,
    ModelFailedError,
    ModelHarness,
    WaitTimeoutError,
)

Serve = Callable[..., ModelHarness]

KINDS: dict[str, dict[str, Any]] = {
    "in_process": {"world_size": 1},
    "on_two_ranks": {"world_size": 2},
}


@pytest.fixture(params=KINDS)
def serve(request: pytest.FixtureRequest, serve_model: Serve) -> Serve:
    def start(model: type[Any], **options: Any) -> ModelHarness:
        return serve_model(model, **{**KINDS[request.param], **options})

    return start


def note(client: FakeClient, text: str) -> None:
    """Wait for a message with a text; others are read over."""
    while client.message("note").body["text"] != text:
        pass


# --- commands --------------------------------------------------------------------------------


def test_commands_are_checked_and_answered_as_when_served(serve: Serve) -> None:
    client = serve(Steered).connect()
    assert client.send("set_level", {"level": 3}) is None
    assert client.send("nothing") is None
    assert client.send("echo", {"text": "hello"}) == Message("echoed", {"text": "hello"})
    refusals = {
        "refuse": ({}, "too_early", "come back later"),
        "set_level": ({"level": 11}, "invalid_command", "at most 10"),
        "echo": ({"text": 3}, "invalid_command", "text"),
        "no_such": ({}, "invalid_command", "no_such"),
    }
    for name, (arguments, code, words) in refusals.items():
        with pytest.raises(CommandError, match=words) as refusal:
            client.send(name, arguments)
        assert refusal.value.code == code


def test_a_handler_that_raises_is_the_cause_of_what_its_caller_gets(serve: Serve) -> None:
    client = serve(Steered).connect()
    with pytest.raises(CommandError) as refusal:
        client.send("break_handler")
    assert refusal.value.code == "internal_error"
    assert "secret" not in refusal.value.message  # as served
    assert "a secret detail" in str(refusal.value.__cause__)


def test_what_a_command_changes_shows_in_the_next_frame(serve: Serve) -> None:
    client = serve(Steered).connect()
    client.send("set_color", {"color": "blue"})
    (blue,) = client.frames("main_video")
    client.send("set_color", {"color": "red"})
    (red,) = client.frames("main_video")
    assert blue.data.shape == (240, 320, 3)
    assert blue.data.dtype == np.uint8
    assert [tuple(frame.data[0, 0]) for frame in (blue, red)] == [(30, 30, 220), (220, 30, 30)]
    assert np.mean(np.asarray(red)) == np.mean(red.data)


def test_calls_may_be_many_before_the_first_answer(serve: Serve) -> None:
    client = serve(NotesEverything).connect()
    calls = [client.post("echo", {"text": str(n)}) for n in range(200)]
    answers = [call.result() for call in calls]
    assert [answer.body["text"] for answer in answers if answer] == [str(n) for n in range(200)]


# --- frames and time -------------------------------------------------------------------------


def test_frames_come_in_order_each_at_its_time(serve: Serve) -> None:
    served = serve(TakesTurns, max_fps=20)
    client = served.connect()
    frames = client.frames("main_video", count=7)
    frames += client.frames("main_video", count=3)
    assert [frame.data[0, 0, 0] for frame in frames] == list(range(10))
    assert [frame.time_s for frame in frames] == pytest.approx([n / 20 for n in range(10)])
    assert served.time_s == frames[-1].time_s
    assert [step.number for step in served.steps] == list(range(10))


def test_no_step_runs_but_for_a_test_that_waits(serve: Serve) -> None:
    served = serve(NotesEverything)
    client = served.connect()
    client.send("set_level", {"level": 40})
    assert served.steps == []
    assert client.frames("main_video")[0].data[0, 0, 0] == 40
    client.send("set_level", {"level": 50})
    assert len(served.steps) == 1
    assert served.time_s == 0


def test_time_passes_as_it_is_told(serve: Serve) -> None:
    served = serve(Steered)
    client = served.connect()
    served.advance(2.0)
    assert served.time_s == 2.0
    frames = client.frames("main_video", count=48)
    assert [frame.time_s for frame in frames] == pytest.approx([n / 24 for n in range(48)])
    assert served.time_s == 2.0  # they had been made
    assert client.frames("main_video")[0].time_s == pytest.approx(2.0)


def test_chunks_sound_and_metadata(serve: Serve) -> None:
    served = serve(ShowsWhatIsAsked)
    client = served.connect()
    client.send("show", {"kind": "both"})
    (sound,) = client.frames("voice")
    pictures = client.frames("main_video", count=2)
    assert sound.data.dtype == np.int16
    assert sound.data.shape == (2, 320)
    assert [frame.time_s - sound.time_s for frame in pictures] == pytest.approx([0, 0.01])
    client.send("show", {"kind": "told"})
    assert [frame.metadata for frame in client.frames("main_video", count=2)] == ["a", "b"]
    client.send("show", {"kind": "told_of_sound"})
    assert [frame.metadata for frame in client.frames("main_video", count=2)] == ["a", "b"]
    assert [frame.metadata for frame in client.frames("voice")] == [["of", "it"]]
    client.send("show", {"kind": "sound"})
    (sound,) = client.frames("voice")
    assert sound.metadata is None
    assert np.array_equal(sound.data, np.full((1, 160), 16384, np.int16))


def test_sound_and_pictures_share_one_timeline(serve: Serve) -> None:
    client = serve(FlashesAndBeeps).connect()
    pictures = client.frames("main_video", count=48)
    sounds = client.frames("voice", count=48)
    assert [f.time_s for f in pictures] == pytest.approx([f.time_s for f in sounds])
    loud = [bool(np.abs(sound.data).max()) for sound in sounds]
    assert loud == [bool(picture.data[0, 0, 0] > 100) for picture in pictures]
    assert loud == 2 * ([True] * 6 + [False] * 18)


def test_a_model_that_has_nothing_to_show_yet_is_asked_again(serve: Serve) -> None:
    served = serve(RefusesAndIdles)
    client = served.connect()
    client.send("set_mode", {"mode": "refuse"})
    served.advance(0.1)
    refused = len(served.steps)
    assert 10 <= refused <= 21  # every 5 ms
    assert all(step.refused for step in served.steps)
    client.send("set_mode", {"mode": "report"})
    client.frames("main_video")
    last = served.steps[-1]
    assert (last.files, last.error, last.refused) == ({"depth.bin": b"123"}, "a little", False)


def test_many_outputs_of_one_step_wait_for_room(serve: Serve) -> None:
    client = serve(RefusesAndIdles).connect()
    client.send("set_mode", {"mode": "both"})
    frames = client.frames("main_video", count=6)
    assert [int(frame.data[0, 0, 0]) for frame in frames] == [101, 102, 1, 101, 102, 2]
    assert client.send("set_mode", {"mode": "show"}) is None  # also in the midst of a step
    assert client.frames("main_video", count=3)[-1].data[0, 0, 0] >= 3


# --- messages --------------------------------------------------------------------------------


def test_messages_reach_one_client_or_all(serve: Serve) -> None:
    served = serve(Steered)
    ada, bob = served.connect("ada"), served.connect("bob")
    assert ada.message("welcome") == Message("welcome", {"client": "ada"})
    assert bob.message() == Message("welcome", {"client": "bob"})
    ada.send("announce", {"text": "x"})
    assert ada.message() == bob.message("announced") == Message("announced", {"text": "x"})
    assert [message.name for message in ada.messages] == ["welcome", "announced"]
    assert (ada.id, bob.id) == ("ada", "bob")


def test_what_has_come_already_lets_no_step_begin(serve: Serve) -> None:
    served = serve(Steered)
    ada, bob = served.connect(), served.connect()
    for _ in range(5):
        ada.send("announce", {"text": "x"})
        bob.message("announced")
    assert served.steps == []


def test_a_message_of_a_step_is_waited_for(serve: Serve) -> None:
    client = serve(TakesTurns).connect()
    note(client, "turn 3 True")
    note(client, "turn 5 True")


def test_every_client_sees_the_same_frames(serve: Serve) -> None:
    served = serve(Steered)
    ada, bob = served.connect(), served.connect()
    seen = ada.frames("main_video", count=5)
    assert [f.time_s for f in bob.frames("main_video", count=5)] == [f.time_s for f in seen]
    bob.pause("main_video")
    ada.frames("main_video", count=2)
    bob.resume("main_video")
    (later,) = ada.frames("main_video")
    assert bob.frames("main_video")[0].time_s == later.time_s


# --- sessions --------------------------------------------------------------------------------


def test_a_session_has_its_seed(serve: Serve) -> None:
    served = serve(DrawsRandomNumbers, seed=7)
    drawn = []
    for seed in (None, 7, 8):
        served.start_session(seed)
        frames = served.connect().frames("main_video", count=8)
        drawn.append([int(frame.data[0, 0, 0]) for frame in frames])
        served.end_session()
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_session_may_have_an_input_and_a_number_of_steps(serve: Serve) -> None:
    served = serve(Steered)
    served.start_session(steps=3, starting_input={"state": {"color": "blue"}})
    client = served.connect()
    frames = client.frames("main_video", count=3)
    assert [tuple(frame.data[0, 0]) for frame in frames] == [(30, 30, 220)] * 3
    with pytest.raises(ClientGoneError, match="3 steps"):
        client.frames("main_video")
    assert (served.state, served.failure) == ("ready", None)
    with pytest.raises(StartRefusedError, match="steps"):
        served.start_session(steps=0)


def test_sessions_follow_each_other(serve: Serve) -> None:
    served = serve(NotesEverything)
    assert served.state == "ready"
    client = served.connect()
    assert served.state == "streaming"
    with pytest.raises(SessionStateError):
        served.start_session()
    client.send("set_level", {"level": 9})
    served.end_session("enough")
    assert served.state == "ready"
    assert not client.is_connected
    with pytest.raises(SessionStateError):
        served.end_session()
    with pytest.raises(ClientGoneError, match="enough"):
        client.send("echo", {"text": "x"})
    again = served.connect()
    assert again.send("level_now") == Message("note", {"text": "7"})
    assert again.frames("main_video")[0].time_s == 0


def test_a_session_outlives_its_last_client_for_a_while(serve: Serve) -> None:
    served = serve(NotesEverything)
    served.connect("a").disconnect()
    served.advance(59)
    assert served.state == "orphaned"
    client = served.connect("b")
    note(client, "came b visit 2")
    client.disconnect()
    served.advance(61)
    assert served.state == "ready"


def test_a_client_that_only_watches_is_not_taken_for_dead(serve: Serve) -> None:
    served = serve(NotesEverything, max_fps=5)
    client = served.connect()
    served.advance(50)
    assert client.is_connected


# --- input -----------------------------------------------------------------------------------


def test_a_model_reads_what_a_client_films(serve: Serve) -> None:
    served = serve(WatchesACamera)
    client = served.connect()
    client.send("set_pause", {"pause": False})
    for value in (10, 20):
        client.push_frame("camera", flat(value))
        assert client.frames("main_video")[0].data[0, 0, 0] == value
    with pytest.raises(CommandError, match="another client") as refusal:
        served.connect().push_frame("camera", flat(1))
    assert refusal.value.code == "publish_refused"
    with pytest.raises(CommandError, match="no such input track"):
        client.push_frame("microphone", flat(1))
    with pytest.raises(FrameError, match="uint8"):
        client.push_frame("camera", np.zeros((4, 6)))


def test_a_model_may_wait_for_its_input_inside_a_step(serve: Serve) -> None:
    client = serve(ReadsAMicrophone).connect()
    for n in range(6):
        client.push_frame("mic", np.full((1, 4), n, np.int16))
    heard = client.frames("voice", count=3)
    assert [frame.data[0, ::4].tolist() for frame in heard] == [[0, 1], [2, 3], [4, 5]]


def test_a_read_times_out(serve: Serve) -> None:
    client = serve(ReadsAMicrophone).connect()
    client.send("set_timeout", {"timeout": 0.05})
    note(client, "timed out")


def test_files_are_sent_with_commands_and_by_themselves(serve: Serve) -> None:
    client = serve(NotesEverything).connect("ada")
    client.upload(UploadedFile(name="notes.txt", mime_type="text/plain", data=b"x" * 70))
    note(client, "file notes.txt 70 of ada")


def test_files_are_sent_with_the_commands_they_are_arguments_of(serve: Serve) -> None:
    client = serve(HashesFiles).connect()
    one, two = (
        UploadedFile(name=f"{text}.bin", mime_type="x/y", data=text.encode())
        for text in ("one", "two")
    )
    hashes = [hashlib.sha256(file.data).hexdigest() for file in (one, two)]
    answer = client.send("hash_one", {"file": one, "times": 2})
    assert answer == Message("hashes", {"names": ["one.bin"] * 2, "hashes": [hashes[0]] * 2})
    answer = client.send("hash_all", {"files": [one, two]})
    assert answer == Message("hashes", {"names": ["one.bin", "two.bin"], "hashes": hashes})


# --- failures --------------------------------------------------------------------------------


def test_a_step_that_raises_ends_the_wait_and_is_its_cause(serve: Serve) -> None:
    served = serve(BreaksWhenTold)
    client = served.connect()
    client.frames("main_video", count=2)
    client.send("arm")
    with pytest.raises(ClientGoneError, match="ValueError") as gone:
        client.frames("main_video")
    assert "a secret detail" in str(gone.value.__cause__)
    assert "a secret detail" in gone.value.seen  # the log
    assert [error.code for error in client.errors] == ["internal_error"]
    assert served.failure == "ValueError"


def test_the_failure_of_a_session_can_be_waited_for(serve: Serve) -> None:
    served = serve(BreaksWhenTold)
    client = served.connect()
    client.send("arm")
    error = client.error()
    assert error.code == "internal_error"
    assert error.message.endswith("ValueError")
    assert "secret" not in error.message  # as served


def test_a_world_of_one_may_have_a_process_of_its_own(serve_model: Serve) -> None:
    served = serve_model(Steered, isolation="process")
    assert len(served.pids) == 1
    assert len(served.connect().frames("main_video", count=3)) == 3


def test_a_start_hook_that_raises_is_the_cause_of_the_refusal(serve: Serve) -> None:
    served = serve(BreaksWhenTold)
    served.connect().send("arm", {"moment": "start"})
    served.end_session()
    with pytest.raises(SessionUnavailableError, match="as it started") as refusal:
        served.connect()
    assert "a secret detail" in str(refusal.value.__cause__)
    assert served.connect().frames("main_video")


def break_unseen(harness: ModelHarness, then: Exception | None = None) -> None:
    with harness:
        harness.connect().send("arm")
        harness.advance(1)
        if then is not None:
            raise then


def test_a_failure_nobody_looked_at_fails_the_test() -> None:
    with pytest.raises(ModelFailedError, match="no test looked at it: ValueError") as failed:
        break_unseen(ModelHarness(BreaksWhenTold))
    assert "a secret detail" in str(failed.value.__cause__)


def test_what_a_test_itself_raises_comes_first() -> None:
    with pytest.raises(KeyError):
        break_unseen(ModelHarness(BreaksWhenTold), KeyError())


def test_a_model_that_does_not_load_is_the_cause(serve: Serve, tmp_path: Any) -> None:
    with pytest.raises(ModelFailedError, match="TakesAConfig"):
        serve(TakesAConfig, config=tmp_path / "missing.yaml")


# --- waiting ---------------------------------------------------------------------------------


def test_a_wait_that_is_in_vain_says_what_it_saw(serve: Serve) -> None:
    served = serve(ReadsAMicrophone)
    client = served.connect("ada")
    began = time.monotonic()
    with pytest.raises(WaitTimeoutError) as error:
        client.frames("voice", count=3, timeout=0.5)
    assert time.monotonic() - began < 10
    text = str(error.value)
    assert text.startswith("no 3 frames of voice within 0.5 s\n")
    for words in (
        "session: streaming at 0.000 s, 0 steps done, one is running",
        "ada: unread frames 0 of voice; 1 messages, at last note",
        "is at:",
        "suspend" if served.pids else "self.sources.mic.read(",
    ):
        assert words in text


def test_a_condition_may_look_but_not_wait(serve: Serve) -> None:
    served = serve(Steered)
    client = served.connect()
    served.until(lambda: len(served.steps) >= 3 and client.messages)
    with pytest.raises(TypeError, match="cannot wait"):
        served.until(lambda: client.send("nothing"))
    with pytest.raises(WaitTimeoutError, match="lambda"):
        served.until(lambda: False, timeout=0.1)


def test_there_is_no_frame_of_a_track_that_is_not_there(serve: Serve) -> None:
    client = serve(Steered).connect()
    with pytest.raises(TrackError, match="there are: main_video"):
        client.frames("side_video")


def test_a_frame_says_what_it_is_not_all_it_shows(serve: Serve) -> None:
    (frame,) = serve(Steered).connect().frames("main_video")
    shape = frame.data.shape
    assert repr(frame) == f"Frame(track='main_video', data=<uint8 {shape}>, time_s=0.0)"


def test_an_instance_is_refused_in_a_word(serve: Serve) -> None:
    with pytest.raises(TypeError, match=r"is a class, not <.*Steered object"):
        serve(Steered())


def test_arguments_without_names_are_refused_in_a_word(serve: Serve) -> None:
    client = serve(Steered).connect()
    with pytest.raises(TypeError, match="set_level: the arguments go by name"):
        client.send("set_level", 3)  # type: ignore[arg-type]


class EmitsManyAStep(ReactorModel):
    fps = 30
    ended: ClassVar[list[str]] = []

    async def run(self) -> None:
        async for _ in self.turns():
            for value in range(6):
                await self.emit(Picture(main_video=flat(value)))

    @session_ended
    def end(self) -> None:
        self.ended.append("ended")


def test_a_step_that_waits_to_emit_is_let_go_at_the_end(serve_model: Serve) -> None:
    with serve_model(EmitsManyAStep) as served:
        served.connect().frames("main_video")
    assert EmitsManyAStep.ended == ["ended"]  # and its thread was not given up


def test_a_harness_that_was_stopped_can_be_started_again() -> None:
    harness = ModelHarness(ShowsWhatIsAsked)
    for _ in range(2):
        with harness:
            assert harness.start() is harness
            assert harness.state == "ready"
