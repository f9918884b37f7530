"""A session that is to have so many steps has exactly those."""

import asyncio

from tests.contract.model_host.conftest import Serve, in_process_only
from tests.contract.model_host.recording_outlet import Shown
from tests.contract.model_host.stage import Stage

from reactor_runtime.host.events import SessionStarted
from reactor_runtime.host.host_outlet import StepReport


def start(stage: Stage, steps: int, session_id: str = "s1") -> None:
    stage.host.post(SessionStarted(session_id=session_id, seed=1, steps=steps))


async def last_of(stage: Stage) -> list[StepReport]:
    """Every report up to the last one of the session."""
    await stage.outlet.until(lambda: any(r.is_last for r in stage.outlet.of(StepReport)))
    return [report for report in stage.outlet.of(StepReport) if not report.refused]


async def test_no_step_follows_the_last_one_and_commands_are_answered(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    start(stage, 3)
    stage.join()
    assert [report.is_last for report in await last_of(stage)] == [False, False, True]
    assert int(await stage.ask_text("asked_so_far")) == 3
    stage.join("b")
    assert int(await stage.ask_text("asked_so_far")) == 3
    assert [shown.value for shown in stage.outlet.of(Shown)] == [1, 2, 3]
    assert len(stage.outlet.of(StepReport)) == 3


async def test_the_next_session_has_a_count_of_its_own(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    start(stage, 1)
    stage.join()
    await last_of(stage)
    stage.end()
    await stage.closed()
    start(stage, 2, "s2")
    stage.join()
    await stage.outlet.until(lambda: sum(r.is_last for r in stage.outlet.of(StepReport)) == 2)
    reports = [(r.session_id, r.number) for r in stage.outlet.of(StepReport)]
    assert reports == [("s1", 0), ("s2", 0), ("s2", 1)]
    stage.end("s2")
    await stage.closed("s2")
    stage.open("s3")
    await stage.outlet.until(lambda: len(stage.outlet.of(StepReport)) > 10)
    assert sum(r.is_last for r in stage.outlet.of(StepReport)) == 2


async def test_a_step_that_came_to_nothing_does_not_count(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    start(stage, 2)
    for mode in ("refuse", "none"):
        await stage.ask("set_mode", mode=mode)
        stage.join(mode)
        await stage.outlet.more(StepReport, 5)
        stage.leave(mode)
    assert not any(report.is_last for report in stage.outlet.of(StepReport))
    await stage.ask("set_mode", mode="show")
    stage.join()
    await last_of(stage)
    assert len(stage.outlet.of(Shown)) == 2


async def test_a_step_that_put_something_on_record_counts(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    start(stage, 1)
    await stage.ask("set_mode", mode="report")
    stage.join()
    (report,) = await last_of(stage)
    assert report.files == {"depth.bin": b"123"}


async def test_what_a_session_starts_with_is_done_before_its_first_step(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    start(stage, 2)
    replies = [stage.call("set_mode", "start", mode="idle"), stage.call("asked_so_far", "start")]
    replies.append(stage.call("set_mode", "start", mode="both"))
    stage.join()
    await last_of(stage)
    answered = [await stage.reply(call_id) for call_id in replies]
    assert answered[1].message_body == {"text": "0"}
    assert [shown.value for shown in stage.outlet.of(Shown)] == [101, 102, 1, 101, 102, 2]


@in_process_only("on ranks a loop takes turns, each of which is a step")
async def test_the_reports_of_a_loop_without_turns_count(serve: Serve) -> None:
    stage = await serve("reports_by_hand")
    start(stage, 2)
    stage.join()
    await stage.ask("set_value", value=5)
    reports = await last_of(stage)
    assert [report.is_last for report in reports] == [False, True]
    await stage.ask("set_value", value=6)
    reply = asyncio.create_task(stage.ask_text("show_or_drop"))
    assert await reply == "went on"
    assert [shown.value for shown in stage.outlet.of(Shown)] == [5, 250]


async def test_what_a_handler_reports_counts_between_the_steps(serve: Serve) -> None:
    stage = await serve("reports_in_turns")
    start(stage, 3)
    stage.join()
    await stage.ask("set_value", value=5)
    await stage.outlet.next(Shown)
    await stage.ask("report", value=7)
    await stage.ask("set_value", value=6)
    told = [r for r in await last_of(stage) if not r.idle]
    of_step, of_handler = {"a": b"1", "c": b"3"}, {"b": b"2"}
    assert [dict(report.files) for report in told] == [of_step, of_handler, of_step]
    assert [report.is_last for report in told] == [False, False, True]
    assert [shown.value for shown in stage.outlet.of(Shown)] == [5, 7, 6]
    numbers = [report.number for report in stage.outlet.of(StepReport)]
    assert numbers == list(range(len(numbers)))
