"""Whatever author code raises, wherever: it ends what the table of failures says and no more."""

import pytest
from tests.contract.model_host.conftest import Serve
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
