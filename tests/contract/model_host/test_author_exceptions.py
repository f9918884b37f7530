"""Whatever author code raises, wherever: it ends what the table of failures says and no more."""

import asyncio

import pytest
from tests.contract.model_host.conftest import Serve
from tests.contract.model_host.stage import Stage
from tests.models.raises_anything import WAYS

from reactor_runtime.host.host_outlet import FailureKind, HostFailure


@pytest.mark.parametrize("command", ["fail", "fail_later"])
async def test_a_handler_fails_its_command_alone(serve: Serve, command: str) -> None:
    stage = await serve("raises_anything")
    stage.open()
    for way in WAYS:
        assert (await stage.ask(command, way=way)).error_code == "internal_error", way
    assert await stage.ask_text("echo", text="still here") == "still here"
    assert stage.outlet.of(HostFailure) == []


@pytest.mark.parametrize(
    "command", ["stop_loop", "exit_soon", "exit_in_background", "exit_in_background_later"]
)
async def test_who_ends_the_loop_ends_nothing(serve: Serve, command: str) -> None:
    stage = await serve("raises_anything")
    stage.open()
    assert not (await stage.ask(command)).error_code
    until = asyncio.get_running_loop().time() + 0.2
    while asyncio.get_running_loop().time() < until:
        assert await stage.ask_text("echo", text="still here") == "still here"
        await asyncio.sleep(0.02)
    assert stage.outlet.of(HostFailure) == []
    stage.end("s1")
    await stage.closed("s1")


async def test_a_refusal_in_whatever_words_is_told_as_text(serve: Serve) -> None:
    stage = await serve("raises_anything")
    stage.open()
    reply = await stage.ask("refuse")
    assert (reply.error_code, reply.error_message) == ("busy", "half ?")


@pytest.mark.parametrize("moment", ["connected", "disconnected", "session_ended"])
async def test_a_hook_fails_nothing(serve: Serve, moment: str) -> None:
    stage = await serve("raises_anything")
    for number, way in enumerate(WAYS):
        session = f"s{number}"
        stage.start(session)
        await stage.ask("at", moment=moment, way=way)
        stage.join("b")
        stage.leave("b")
        stage.end(session)
        await stage.closed(session)
    assert stage.outlet.of(HostFailure) == []


@pytest.mark.parametrize("moment", ["session_started", "generate", "process_output"])
async def test_a_session_that_fails_is_the_only_one(serve: Serve, moment: str) -> None:
    stage = await serve("raises_anything")
    stage.start("before")
    for number, way in enumerate(WAYS):
        await stage.ask("at", moment=moment, way=way)
        stage.end("before" if number == 0 else f"well{number - 1}")
        stage.open(f"s{number}")
        await stage.closed(f"s{number}")
        stage.start(f"well{number}")
    stage.end(f"well{number}")
    await stage.closed(f"well{number}")
    failures = stage.outlet.of(HostFailure)
    kind = FailureKind.SESSION_START if moment == "session_started" else FailureKind.STEP
    assert {f.kind for f in failures} == {kind}
    assert len(failures) == len(WAYS)
    assert not any(f.fatal for f in failures)


@pytest.mark.parametrize(
    ("command", "code"), [("cancel_me", "internal_error"), ("cancel_me_later", None)]
)
async def test_a_handler_that_cancels_its_task_ends_nothing_else(
    serve: Serve, command: str, code: str | None
) -> None:
    stage = await serve("raises_anything")
    stage.open()
    for _ in range(3):
        assert (await stage.ask(command)).error_code == code
    assert await stage.ask_text("echo", text="still here") == "still here"
    assert stage.outlet.of(HostFailure) == []


async def test_a_step_that_cancels_its_task_ends_its_session_loudly(serve: Serve) -> None:
    stage = await serve("raises_anything")
    stage.start()
    await stage.ask("at", moment="cancel", way="yes")
    stage.join()
    await stage.closed()
    (failure,) = stage.outlet.of(HostFailure)
    assert (failure.kind, failure.message) == (FailureKind.STEP, "CancelledError")
    stage.open("s2")
    assert await stage.ask_text("echo", text="still here") == "still here"


async def test_who_cancels_every_task_ends_the_session_alone(serve: Serve) -> None:
    await ends_its_session_alone(await serve("raises_anything"), "cancel_everything")


# A timer strikes several ranks in different places: that they differ is what ends them.
@pytest.mark.parametrize("kind", ["in_process", "pool_of_1"], indirect=True)
async def test_who_cancels_every_task_later_ends_the_session_alone(serve: Serve) -> None:
    await ends_its_session_alone(await serve("raises_anything"), "cancel_everything_soon")


async def ends_its_session_alone(stage: Stage, command: str) -> None:
    for session in ("s1", "s2"):
        stage.open(session)
        await stage.ask(command)
        await stage.closed(session)
    failures = stage.outlet.of(HostFailure)
    assert [(f.message, f.fatal) for f in failures] == [("CancelledError", False)] * 2
    stage.open("s3")
    assert await stage.ask_text("echo", text="still here") == "still here"


@pytest.mark.parametrize("command", ["cancel_soon", "cancel_here"])
async def test_a_timer_that_cancels_every_task_ends_one_session_at_most(
    serve: Serve, command: str
) -> None:
    stage = await serve("cancels_everything")
    stage.start()  # nobody is there: on ranks, a step that one of them alone is in ends them all
    code = (await stage.ask(command)).error_code
    assert code == ("internal_error" if command == "cancel_here" else None)
    await asyncio.sleep(0.2)  # the timer is the author's
    stage.join()  # ranks are asked what became of them with the next event
    (failure,) = await stage.outlet.next(HostFailure)
    assert not failure.fatal
    stage.open("s2")
    await stage.shown()
    assert await stage.ask_text("ping") == "pong"
