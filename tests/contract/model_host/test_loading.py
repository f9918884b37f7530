"""From a class to a host that is ready, or an error that says why not."""

import logging
import re
from pathlib import Path

import pytest
from tests.contract.model_host.conftest import MakeHost, Serve
from tests.contract.model_host.recording_outlet import Paced, RecordingOutlet
from tests.contract.model_host.stage import Stage

from reactor_runtime.errors import HostClosedError, ModelLoadError


async def test_a_model_knows_its_place_before_it_loads(serve: Serve, world_size: int) -> None:
    stage = await serve("tells_its_place")
    stage.start()
    told = await stage.ask_text("tell")
    assert told == f"init; load None (0, {world_size}, 0, 'cpu', True); warmup"


async def test_load_gets_the_path_of_the_configuration(serve: Serve, tmp_path: Path) -> None:
    stage = await serve("tells_its_place", config_path=tmp_path / "config.yaml")
    stage.start()
    assert "load config.yaml" in await stage.ask_text("tell")


async def test_the_older_load_gets_the_configuration_itself(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("steps: 4\nname: small\n")
    stage = await serve("takes_a_config", config_path=path)
    stage.start()
    assert await stage.ask_text("tell") == "{'steps': 4, 'name': 'small'}"


async def test_the_older_load_gets_nothing_where_there_is_no_file(serve: Serve) -> None:
    stage = await serve("takes_a_config")
    stage.start()
    assert await stage.ask_text("tell") == "{}"


@pytest.mark.parametrize(
    ("broken", "phase", "reason"),
    [
        ("construct", "construct", "ValueError: broken in construct"),
        ("load", "load", "ValueError: broken in load"),
        ("warmup", "warmup", "ValueError: broken in warmup"),
        ("exit", "load", "SystemExit: 3"),
        ("fps", "load", "ValueError: fps is 0; wanted a positive number of frames per second"),
        ("buffer_size", "load", "ValueError: buffer_size is 1.5; wanted a positive number"),
    ],
)
async def test_what_breaks_before_serving_is_named(
    make_host: MakeHost,
    outlet: RecordingOutlet,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
    phase: str,
    reason: str,
) -> None:
    monkeypatch.setenv("BREAK", broken)
    host = make_host("breaks_before_serving", outlet)
    try:
        with pytest.raises(ModelLoadError) as caught:
            await host.start()
    finally:
        for name in ("fps", "buffer_size"):
            if hasattr(caught_class(), name):
                delattr(caught_class(), name)
    assert caught.value.phase == phase
    assert caught.value.model == "tests.models.breaks_before_serving:BreaksBeforeServing"
    assert caught.value.reason.startswith(reason)
    assert caught.value.__cause__ is not None
    if broken in ("construct", "load", "warmup"):
        assert re.search(r"\(breaks_before_serving\.py:\d+\)$", caught.value.reason)
    with pytest.raises(HostClosedError):
        Stage(host, outlet).start()
    await host.stop()


def caught_class() -> type:
    from tests.models.breaks_before_serving import BreaksBeforeServing

    return BreaksBeforeServing


async def test_what_loads_may_run_event_loops_of_its_own(serve: Serve) -> None:
    stage = await serve("runs_its_own_loop")
    stage.start()
    told = await stage.ask_text("tell")
    assert told == "construct get run new warmup; loaded and warm; same loop: True"
    assert stage.texts == []  # nobody was there when load() sent


async def test_a_handler_that_runs_a_loop_is_told_what_to_do(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        stage = await serve("runs_its_own_loop")
        stage.start()
        assert (await stage.ask("run_one_now")).error_code == "internal_error"
        await stage.outlet.until(lambda: "make it `async def` and await" in caplog.text)


async def test_events_may_be_posted_before_the_model_is_ready(
    make_host: MakeHost, outlet: RecordingOutlet
) -> None:
    host = make_host("notes_everything", outlet)
    stage = Stage(host, outlet)
    stage.open()
    async with host:
        await stage.shown()


async def test_the_contract_is_known_without_loading(
    make_host: MakeHost, outlet: RecordingOutlet
) -> None:
    host = make_host("notes_everything", outlet)
    assert host.contract.name == "NotesEverything"
    assert {"echo", "set_level"} <= host.contract.commands.keys()
    await host.stop()


async def test_the_fps_of_the_class_is_pinned_at_the_start(serve: Serve) -> None:
    stage = await serve("breaks_when_told")
    assert stage.outlet.of(Paced) == [Paced(30.0)]


async def test_a_rate_that_load_sets_on_the_class_is_pinned_too(serve: Serve) -> None:
    stage = await serve("changes_itself")
    assert stage.outlet.of(Paced) == [Paced(12.5)]


async def test_a_class_without_fps_pins_nothing(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    await stage.shown()
    assert stage.outlet.of(Paced) == []
