"""Commands: names, arguments, answers, refusals, and who asks."""

from typing import Any

import pytest
from tests.compat.adapters.decorated_as_dataclasses import DecoratedAsDataclasses
from tests.compat.adapters.inherits_commands import InheritsCommands
from tests.compat.adapters.is_told_to_run import IsToldToRun
from tests.compat.adapters.knows_its_clients import KnowsItsClients
from tests.compat.adapters.names_a_message_command_error import NamesAMessageCommandError
from tests.compat.adapters.owns_its_names import OwnsItsNames
from tests.compat.adapters.postpones_its_annotations import PostponesItsAnnotations
from tests.compat.adapters.refuses_commands import RefusesCommands
from tests.compat.adapters.shares_an_input_field import SharesAnInputField
from tests.compat.adapters.takes_every_type import TakesEveryType
from tests.compat.adapters.takes_files import TakesFiles
from tests.compat.conftest import Play, everywhere
from tests.compat.stage import Client

from reactor_runtime import CommandError, UploadedFile
from reactor_runtime.testing import Message


def body(answer: Message | None) -> dict[str, Any]:
    assert answer is not None
    return dict(answer.body)


def refused(client: Client, command: str, /, **arguments: Any) -> CommandError:
    with pytest.raises(CommandError) as refusal:
        client.send(command, **arguments)
    return refusal.value


@everywhere
def test_a_refusal_is_exactly_that_and_any_other_exception_is_internal(play: Play) -> None:
    stage = play(RefusesCommands)
    client = stage.connect()
    refusal = refused(client, "refuse")
    assert (refusal.code, refusal.message) == ("too_early", "come back in 3 days")
    assert refused(client, "refuse", after=9).code == "invalid_command"
    broken = refused(client, "break")
    assert broken.code == "internal_error"
    assert "secret" not in broken.message
    stage.logged("a secret detail")


def test_a_message_may_be_called_command_error(play: Play) -> None:
    client = play(NamesAMessageCommandError).connect()
    answer = client.send("ask", politely=True)
    assert answer == Message("command_error", {"command": "ask", "reason": "none"})
    assert refused(client, "ask", politely=False).code == "rude"
    assert client.send("tell") is None
    assert client.hear("command_error") == {"command": "tell", "reason": "for everybody"}


@everywhere
def test_commands_may_be_called_run_start_stop_step_and_reset(play: Play) -> None:
    client = play(IsToldToRun).connect()
    client.see(30)
    assert body(client.send("start"))["is_running"] is True
    client.see(120)
    assert body(client.send("step"))["position"] == 1
    assert body(client.send("step", by=4))["position"] == 5
    assert body(client.send("run")) == {"position": 5, "is_running": True}
    assert body(client.send("reset"))["position"] == 0
    assert body(client.send("stop"))["is_running"] is False
    client.see(30)


def test_one_input_field_serves_many(play: Play) -> None:
    client = play(SharesAnInputField).connect()
    assert body(client.send("add")) == {"total": 1.0}
    assert body(client.send("add", right=0.25)) == {"total": 0.75}
    assert body(client.send("half")) == {"total": 0.25}
    assert client.send("set_share", share=1) is None
    for command, name in (
        ("add", "left"),
        ("add", "right"),
        ("half", "of"),
        ("set_share", "share"),
    ):
        assert name in refused(client, command, **{name: 1.5}).message


@pytest.mark.parametrize("model", [TakesEveryType, PostponesItsAnnotations])
def test_arguments_of_every_type(play: Play, model: type[Any]) -> None:
    client = play(model).connect()

    def words(command: str, **arguments: Any) -> str:
        return str(body(client.send(command, **arguments))["words"])

    point = "Point(x=1.0, y=2.0)"
    assert words("plain", text="a", count=3.0, size=2, on=True) == "('a', 3, 2.0, True)"
    assert words("chosen", speed="fast") == "('fast', 1, 'a')"
    assert words("chosen", speed="slow", number=2, text="b") == "('slow', 2, 'b')"
    assert words("absent") == "(None, None, None)"
    assert words("absent", word="x", numbers=[1, 2], limit=4) == "('x', [1, 2], 4)"
    assert words("absent", word=None, numbers=None) == "(None, None, None)"
    nested = words("nested", path=[[1, 2], []], point={"x": 1, "y": 2}, points=[{"x": 3}])
    assert nested == f"([[1.0, 2.0], []], {point}, [Point(x=3.0, y=0.0)])"
    for wrong in (
        {"text": 1, "count": 3, "size": 2.0, "on": True},
        {"text": "a", "count": 3.5, "size": 2.0, "on": True},
        {"text": "a", "count": 3, "size": "2", "on": True},
        {"text": "a", "count": 3, "size": 2.0, "on": "yes"},
        {"text": "a", "count": 3, "size": 2.0, "on": True, "client": "me"},
        {"text": "a", "count": 3, "size": 2.0},
    ):
        assert refused(client, "plain", **wrong).code == "invalid_command"
    assert refused(client, "chosen", speed="fastest").code == "invalid_command"
    assert refused(client, "chosen", speed="fast", text="c").code == "invalid_command"


def test_whoever_asks_is_known_and_greeted(play: Play) -> None:
    stage = play(KnowsItsClients)
    first = stage.connect()
    hello = first.hear("hello")
    assert hello["guests"] == 1
    second = stage.connect()
    assert second.hear("hello")["guests"] == 2
    assert first.send("whisper") is None
    assert first.hear("whisper") == {"to": hello["you"], "is_known": True}
    assert second.send("shout", word="all") is None
    for client in (first, second):  # the second has not heard what was whispered
        assert client.hear("whisper") == {"to": "all", "is_known": True}
    second.leave()
    assert first.hear("hello") == {"you": "", "guests": 1}


def test_commands_hooks_and_fields_are_inherited(play: Play) -> None:
    client = play(InheritsCommands).connect()
    assert body(client.send("inherited"))["words"] == "base, started by base and heir"
    assert body(client.send("overridden", word="ab"))["words"] == "heir abab 1 5 more"
    client.send("set_level", level=4)
    client.send("set_extra", extra="x")
    assert body(client.send("overridden", word="ab", times=1))["words"] == "heir ab 4 5 x"


def test_dataclasses_are_what_they_look_like(play: Play) -> None:
    client = play(DecoratedAsDataclasses).connect()
    client.see(30)
    assert body(client.send("pose", pose={"pan": 1.5})) == {"pan": 1.5, "history": [1.5]}
    answer = client.send("pose", pose={"pan": 2, "names": ["a"]})
    assert body(answer) == {"pan": 2, "history": [1.5, 2]}
    client.send("set_level", level=90)
    client.see(90)
    assert refused(client, "set_level", level=256).code == "invalid_command"


def test_files_come_as_arguments_in_the_state_and_by_hook(play: Play) -> None:
    client = play(TakesFiles).connect()
    file = UploadedFile(name="a.txt", mime_type="text/plain", data=b"words")
    whole = {"name": "a.txt", "mime_type": "text/plain", "size": 5, "text": "words"}
    assert client.send("image_of_state") is None
    assert body(client.send("take", file=file)) == whole
    client.send("set_image", image=file)
    assert body(client.send("image_of_state")) == whole
    client.upload(file)
    assert client.hear("got") == whole


def test_an_author_s_names_are_the_author_s(play: Play) -> None:
    client = play(OwnsItsNames).connect()
    client.see(33)
    assert body(client.send("names")) == {"lost": []}
    client.send("set_level", level=99)
    client.see(99)
