"""A model's class, driven without clients in this process."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.models.films_itself import FilmsItself
from tests.models.paints_in_parts import PaintsInParts
from tests.models.parts import Note, Picture, flat
from tests.models.reads_a_microphone import ReadsAMicrophone
from tests.models.refuses_and_idles import RefusesAndIdles
from tests.models.runs_free import RunsFree
from tests.models.takes_turns import TakesTurns
from tests.models.yields_numbers import YieldsNumbers

from reactor_runtime import CommandError, ReactorModel, event, session_ended, session_started
from reactor_runtime.errors import ModelLoadError, OfflineRunError, PayloadError
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.offline import run_offline
from reactor_runtime.offline.script import Command

QUICK = HostSettings(turn_timeout_s=0.3, first_turn_timeout_s=0.3)


def frames_of(path: Path) -> NDArray[np.uint8]:
    with av.open(str(path)) as film:
        return np.stack([f.to_ndarray(format="rgb24") for f in film.decode(video=0)])


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return tmp_path / "film.mkv"


def test_each_turn_shows_its_frames_and_a_command_changes_the_turn_it_is_for(film: Path) -> None:
    # Turn 3 shows nothing: in it the generator ends, and is started again by the next.
    run = run_offline(YieldsNumbers, turns=6, commands=[(3, "set_add", {"add": 40})], out=film)
    assert frames_of(film)[:, 0, 0, 0].tolist() == [1, 2, 3, 41, 42]
    assert (run.turns, run.frames, run.files) == (6, {"main_video": 5}, (film,))
    assert [m.body["text"] for m in run.messages] == ["ended, closed 2"]
    assert run.seconds == pytest.approx(5 / 30 + 0.005)


def test_the_same_arguments_give_the_same_film(tmp_path: Path) -> None:
    for name, seed in (("a", 7), ("b", 7), ("c", 8)):
        run_offline(FilmsItself, turns=4, seed=seed, out=tmp_path / f"{name}.mkv")
    a, b, c = (frames_of(tmp_path / f"{name}.mkv") for name in "abc")
    assert (a == b).all()
    assert not (a == c).all()


def test_time_is_the_films(film: Path) -> None:
    class TellsTime(ReactorModel):
        fps = 4

        async def run(self) -> None:
            async for turn in self.turns():
                await self.send(Note(text=f"{turn.number} {turn.time_s:g}"))
                await asyncio.sleep(0.01)
                await self.emit(Picture(main_video=flat(0, 2)))

    run = run_offline(TellsTime, turns=4, out=film)
    assert [m.body["text"] for m in run.messages] == ["0 0", "1 0.5", "2 1", "3 1.5"]


def test_sound_and_pictures_lie_together(film: Path) -> None:
    run = run_offline(FilmsItself, turns=5, out=film)
    assert run.seconds == pytest.approx(5 / 25)
    with av.open(str(film)) as found:
        at = [float(frame.time or 0) for frame in found.decode(video=0)]
    with av.open(str(film)) as found:
        sound = [frame.to_ndarray()[0, ::2] for frame in found.decode(audio=0)]
    assert at == pytest.approx([0, 0.04, 0.08, 0.12, 0.16], abs=0.001)
    assert np.concatenate(sound).tolist() == [n for n in range(5) for _ in range(320)]


def test_tracks_flushes_and_outputs_of_one_step(film: Path) -> None:
    ways = ["two_tracks", "flush", "two_outputs"]
    commands = [(turn, "set_way", {"way": way}) for turn, way in enumerate(ways)]
    run = run_offline(PaintsInParts, turns=4, commands=commands, out=film)
    assert run.files == (film, film.with_suffix(".depth.mkv"))
    assert frames_of(film)[:, 0, 0, 0].tolist() == [1, 1, 1, 1, 1, 1, 11, 11]
    assert frames_of(run.files[1])[:, 0, 0, 0].tolist() == [11, 11]


def test_a_hand_written_loop_takes_the_turns(film: Path) -> None:
    run = run_offline(TakesTurns, turns=3, out=film)
    assert frames_of(film)[:, 0, 0, 0].tolist() == [0, 1, 2]
    assert [m.body["text"] for m in run.messages] == [f"turn {n} True" for n in range(3)]


def test_a_read_that_gives_up_lets_the_films_time_pass(film: Path) -> None:
    commands: list[Command] = [
        (0, "set_timeout", {"timeout": 30.0}),
        (0, "set_catch", {"catch": True}),
    ]
    run = run_offline(ReadsAMicrophone, turns=2, commands=commands, out=film, settings=QUICK)
    assert run.turns == 2


def test_replies_are_among_the_messages(film: Path) -> None:
    run = run_offline(PaintsInParts, turns=1, commands=[(0, "who", {})], out=film)
    assert [(m.client_id, m.body) for m in run.messages] == [("offline", {"text": "0 of 1"})]
    assert run.files == ()
    assert not film.exists()


class Raises(ReactorModel):
    where = ""

    @session_started
    def begin(self) -> None:
        self.act("session_started")

    def generate(self, _: Any) -> Picture:
        self.act("generate")
        return Picture(main_video=flat(1))

    @event
    def refuse(self) -> None:
        raise CommandError("too_late", "not now")

    @event
    def break_down(self) -> None:
        raise KeyError("inside")

    @session_ended
    def end(self) -> None:
        self.act("session_ended")

    def act(self, where: str) -> None:
        if self.where == where:
            raise ValueError("this model will not")


@pytest.mark.parametrize("where", ["generate", "session_started"])
def test_what_the_author_raises_comes_out(film: Path, where: str) -> None:
    model = type("Raises", (Raises,), {"where": where})
    with pytest.raises(ValueError, match="this model will not") as caught:
        run_offline(model, turns=2, out=film)
    is_noted = any("in turn 0" in note for note in getattr(caught.value, "__notes__", []))
    assert is_noted == (where == "generate")


@pytest.mark.parametrize(
    ("name", "words"),
    [("refuse", "turn 1: .*too_late: not now"), ("break_down", "turn 1: .*internal_error")],
)
def test_a_refused_command_fails_the_run_and_what_was_shown_is_kept(
    film: Path, name: str, words: str
) -> None:
    with pytest.raises(OfflineRunError, match=words):
        run_offline(Raises, turns=3, commands=[(1, name, {})], out=film)
    assert not film.exists()
    assert len(frames_of(film.with_suffix(".part.mkv"))) == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ((0, "nothing", {}), "there is no command nothing; the model has set_add"),
        ((5, "set_add", {"add": 1}), "for turn 5; there are turns 0 to 4"),
        ((0, "set_add", {"add": "x"}), "set_add.add"),
    ],
)
def test_a_wrong_script_is_refused_before_the_model_is_loaded(
    film: Path, command: tuple[int, str, dict[str, Any]], words: str
) -> None:
    with pytest.raises((OfflineRunError, PayloadError), match=words):
        run_offline(YieldsNumbers, turns=5, commands=[command], out=film)
    with pytest.raises(OfflineRunError, match="wanted at least 1"):
        run_offline(YieldsNumbers, turns=0, out=film)
    with pytest.raises(OfflineRunError, match=r"must end in \.mkv"):
        run_offline(YieldsNumbers, turns=1, out=film.with_suffix(".mp4"))


def test_a_loop_without_turns_is_told_what_to_change(film: Path) -> None:
    with pytest.raises(ModelLoadError, match=r"async for turn in self\.turns\(\)"):
        run_offline(RunsFree, turns=1, out=film)


def hangs() -> Iterator[type[ReactorModel]]:
    class Sleeps(ReactorModel):
        def generate(self, _: Any) -> None:
            time.sleep(2)

    class NeverAsks(ReactorModel):
        async def run(self) -> None:
            await asyncio.Event().wait()

    yield Sleeps
    yield NeverAsks


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (next(hangs()), "turn 0: took longer than 0.3 s"),
        (list(hangs())[1], r"turn 0: its run\(\) asks for no turn"),
        (ReadsAMicrophone, "the model waits for input, and there is no client"),
    ],
)
def test_no_wait_is_for_ever(film: Path, model: type[ReactorModel], words: str) -> None:
    with pytest.raises(OfflineRunError, match=words):
        run_offline(model, turns=2, out=film, settings=QUICK)


def test_a_model_that_refuses_every_step(film: Path) -> None:
    with pytest.raises(OfflineRunError, match=r"process_input\(\) refuses every step"):
        run_offline(
            RefusesAndIdles, turns=1, commands=[(0, "set_mode", {"mode": "refuse"})], out=film,
            settings=QUICK,
        )  # fmt: skip
