"""When steps run, in each of the three bodies, and what is reported of them."""

import logging
import time

import pytest
from tests.contract.model_host.conftest import (
    Serve,
    each_loop,
    in_process_only,
    pools_only,
    warnings_of,
)
from tests.contract.model_host.recording_outlet import Dropped, Shown
from tests.contract.model_host.stage import Stage
from tests.models.parts import flat
from tests.waiting import until

from reactor_runtime.host.host_outlet import HostFailure, OutboundMessage, StepReport


async def shown_after(stage: Stage, mode: str) -> int:
    """The next picture once ``mode`` is set."""
    await stage.ask("set_mode", mode=mode)
    (shown,) = await stage.outlet.more(Shown)
    return int(shown.value)


# --- the gate ---


async def test_no_step_runs_without_a_session_and_a_client(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.start()
    assert await stage.ask_text("echo", text="x") == "x"
    assert stage.outlet.of(StepReport) == []
    stage.join()
    await stage.steps()


async def test_steps_stop_with_the_last_client_and_go_on_with_the_next(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    stage.join("b")
    stage.leave("a")
    await stage.noted("left a")
    await stage.outlet.more(StepReport)  # b is still there
    stage.leave("b")
    await stage.noted("left b")
    made = len(stage.outlet.of(StepReport))
    assert await stage.ask_text("echo", text="x") == "x"
    assert len(stage.outlet.of(StepReport)) == made
    stage.join("c")
    await stage.outlet.more(StepReport)


async def test_a_step_waits_for_its_time(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.outlet.not_before = time.monotonic() + 0.2
    stage.open()
    await stage.noted("welcome a")
    (report,), (shown,) = await stage.steps(), await stage.outlet.next(Shown, 1)
    assert shown.chunk.started_at >= stage.outlet.not_before
    assert report.step_s < 0.2


async def test_a_step_waits_for_room(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.outlet.room = 3
    stage.open()
    await stage.shown(3)
    assert await stage.ask_text("echo", text="x") == "x"
    assert len(stage.outlet.of(StepReport)) == 3
    stage.outlet.give_room(2)
    await stage.shown(5)


async def test_a_step_is_expected_to_be_as_large_as_the_last_one(serve: Serve) -> None:
    stage = await serve("shows_what_is_asked")
    asked: list[int] = []
    step_at = stage.outlet.step_at
    stage.outlet.step_at = lambda frames, coming=0: asked.append(frames) or step_at(frames, coming)  # type: ignore
    stage.open()
    await stage.ask("show", kind="chunk")
    await stage.outlet.more(StepReport, 2)
    assert (asked[0], asked[-1]) == (1, 3)


# --- step hooks ---


async def test_the_three_hooks_make_a_step(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    stage.open()
    assert await stage.shown(3) == [1, 2, 3]
    assert [report.number for report in await stage.steps(3)] == [0, 1, 2]


async def test_a_refused_step_is_counted_warned_of_once_and_asked_again(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("refuses_and_idles")
    stage.start()
    await stage.ask("set_mode", mode="refuse")
    with caplog.at_level(logging.WARNING):
        began = time.monotonic()
        stage.join()
        reports = await stage.steps(10)
        assert time.monotonic() - began >= 9 * 0.004
    assert all(report.refused and report.idle and report.number == 0 for report in reports)
    (warning,) = [r for r in caplog.records if "step_refused" in r.getMessage()]
    assert "not ready" in warning.getMessage()
    assert not any(text.startswith("generate") for text in stage.texts)
    await stage.ask("set_mode", mode="show")
    assert await stage.shown() == [1]
    assert int(await stage.ask_text("asked_so_far")) > 10


@pytest.mark.parametrize("mode", ["none", "idle"])
async def test_nothing_to_show_is_asked_again_a_little_later(serve: Serve, mode: str) -> None:
    stage = await serve("refuses_and_idles")
    stage.start()
    await stage.ask("set_mode", mode=mode)
    began = time.monotonic()
    stage.join()
    reports = await stage.steps(10)
    assert time.monotonic() - began >= 9 * 0.004
    assert all(report.idle and not report.refused for report in reports)
    assert [report.number for report in reports] == list(range(10))
    assert stage.outlet.of(Shown) == []


async def test_process_output_decides_about_an_exception(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    stage.open()
    assert await shown_after(stage, "catch") == 201
    assert stage.outlet.of(HostFailure) == []


async def test_a_report_shows_its_output_and_keeps_the_rest(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    stage.open()
    assert await shown_after(stage, "report") > 0
    report = await stage.outlet.until(
        lambda: next((r for r in stage.outlet.of(StepReport) if r.files), None)
    )
    assert (report.files, report.error) == ({"depth.bin": b"123"}, "a little")
    assert not report.idle


async def test_a_step_may_emit_several_outputs(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    stage.start()
    await stage.ask("set_mode", mode="both")
    stage.join()
    assert await stage.shown(6) == [101, 102, 1, 101, 102, 2]


async def test_outputs_emitted_on_the_way_make_a_step_that_is_not_idle(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    stage.start()
    await stage.ask("set_mode", mode="many")
    stage.join()
    reports = await stage.steps(3)
    assert not any(report.idle for report in reports)
    assert set(await stage.shown(6)) == {101, 102}


async def test_what_is_no_output_ends_the_session_and_says_what_was_wanted(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("refuses_and_idles")
    stage.start()
    await stage.ask("set_mode", mode="wrong")
    with caplog.at_level(logging.ERROR):
        stage.join()
        await stage.closed()
    assert stage.outlet.of(HostFailure)[0].message == "TypeError"
    assert "a step shows an Output, None or Idle, not ndarray; declare a class" in caplog.text


async def test_messages_of_a_step_are_passed_on_before_its_frames(serve: Serve) -> None:
    stage = await serve("refuses_and_idles")
    stage.open()
    await stage.shown(5)
    kinds = [type(r) for r in stage.outlet.reports if isinstance(r, OutboundMessage | Shown)]
    # The message of the next step may come before the frames of this one, never the reverse.
    shown_at = [n for n, kind in enumerate(kinds) if kind is Shown]
    assert all(kinds[:at].count(OutboundMessage) > step for step, at in enumerate(shown_at))


# --- generators ---


async def test_a_generator_that_finishes_is_started_again(serve: Serve) -> None:
    stage = await serve("yields_numbers")
    stage.open()
    assert await stage.shown(7) == [1, 2, 3, 1, 2, 3, 1]


async def test_state_set_between_yields_is_seen_by_the_next(serve: Serve) -> None:
    stage = await serve("yields_numbers")
    stage.open()
    await stage.shown()
    await stage.ask("set_add", add=100)
    # One picture may still have been on its way when the command was answered.
    assert (await stage.outlet.more(Shown, 2))[1].value > 100


async def test_a_generator_is_closed_before_the_hook_of_the_last_client(serve: Serve) -> None:
    stage = await serve("yields_forever")
    stage.open()
    await stage.shown()
    stage.join("b")
    stage.leave("a")
    await stage.noted("left")
    await stage.outlet.more(Shown)  # b is still there
    stage.leave("b")
    await stage.noted("left", times=2)
    assert stage.texts == ["opened", "left", "closed", "left"]


async def test_a_generator_is_closed_before_the_session_ends(serve: Serve) -> None:
    stage = await serve("yields_forever")
    stage.open()
    await stage.shown(2)
    stage.end()
    await stage.closed()
    assert stage.texts == ["opened", "closed", "ended"]
    before = len(stage.outlet.of(Shown))
    stage.open("s2")
    (shown,) = await stage.outlet.more(Shown, after=before)
    assert shown.value == 1  # from the beginning


async def test_a_synchronous_generator_is_closed_too(serve: Serve) -> None:
    stage = await serve("yields_numbers")
    stage.outlet.room = 2
    stage.open()
    await stage.steps(2)  # the generator is at its second yield
    stage.end()
    await stage.closed()
    assert stage.texts == ["ended, closed 1"]


async def test_a_client_who_leaves_and_returns_at_once_still_closes_it(serve: Serve) -> None:
    stage = await serve("yields_forever")
    stage.open()
    await stage.shown(2)
    stage.leave()
    stage.join()
    await stage.noted("opened", times=2)
    assert [t for t in stage.texts if t != "note"] == ["opened", "closed", "left", "opened"]


async def test_yielding_nothing_is_an_idle_turn(serve: Serve) -> None:
    stage = await serve("yields_forever")
    stage.start()
    await stage.ask("set_every", every=2)
    stage.join()
    reports = await stage.steps(9)
    assert sum(report.idle for report in reports) == 3
    assert await stage.shown(4) == [1, 2, 3, 4]


SESSIONS = ("s1", "s2", "s3", "s4")


async def test_an_exception_in_finally_fails_no_session_that_ends_anyway(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("yields_forever")
    for session_id in SESSIONS:
        before = len(stage.outlet.of(Shown))
        stage.start(session_id)
        await stage.ask("set_breaks_in_finally", breaks_in_finally=True)
        stage.join()
        await stage.outlet.more(Shown, after=before)
        stage.end(session_id)
        await stage.closed(session_id)
    assert stage.outlet.of(HostFailure) == []
    told = [r for r in caplog.records if "closing_failed" in r.getMessage()]
    assert [name for r in told for name in SESSIONS if name in r.getMessage()] == [*SESSIONS]
    assert caplog.text.count("ValueError: broken in finally") >= len(SESSIONS)


async def test_an_exception_in_finally_fails_the_session_whose_last_client_left(
    serve: Serve,
) -> None:
    stage = await serve("yields_forever")
    stage.start()
    await stage.ask("set_breaks_in_finally", breaks_in_finally=True)
    stage.join()
    await stage.shown()
    stage.leave()
    await stage.closed()
    assert [failure.message for failure in stage.outlet.of(HostFailure)] == ["ValueError"]
    stage.open("s2")
    await stage.outlet.more(Shown)


# --- hand-written loops ---


async def test_each_iteration_over_turns_is_a_step(serve: Serve) -> None:
    stage = await serve("takes_turns")
    stage.open()
    assert await stage.shown(3) == [0, 1, 2]
    assert stage.texts[:3] == ["turn 0 True", "turn 1 True", "turn 2 True"]
    assert [report.number for report in await stage.steps(3)] == [0, 1, 2]


async def test_turns_count_from_nought_in_every_session(serve: Serve) -> None:
    stage = await serve("takes_turns")
    stage.open("s1")
    await stage.shown(3)
    stage.end("s1")
    await stage.closed("s1")
    before = len(stage.outlet.of(Shown))
    stage.open("s2")
    (shown,) = await stage.outlet.more(Shown, after=before)
    assert shown.value == 0


async def test_a_turn_that_shows_nothing_is_idle(serve: Serve) -> None:
    stage = await serve("takes_turns")
    stage.start()
    await stage.ask("set_quiet", quiet=True)
    stage.join()
    assert all(report.idle for report in await stage.steps(5))


async def test_a_loop_that_returns_is_told_of_and_started_again_by_the_next_session(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    stage = await serve("takes_turns")
    stage.start("s1")
    await stage.ask("set_finish", finish=True)
    stage.join()
    await stage.steps(1)
    assert await stage.ask("note", text="x")
    assert len(stage.outlet.of(StepReport)) == 1
    stage.end("s1")
    stage.open("s2")
    await stage.steps(3)
    await until(lambda: warnings_of(caplog, "run_returned"))  # a rank's lines come by a pipe
    assert stage.outlet.of(HostFailure) == []


async def test_a_loop_that_leaves_its_turns_goes_on_without_them(serve: Serve) -> None:
    stage = await serve("takes_turns")
    stage.open()
    await stage.steps(2)
    await stage.ask("set_leave", leave=True)
    await stage.ask("note", text="x")
    made = len(stage.outlet.of(StepReport))
    for _ in range(5):
        await stage.ask("note", text="applied")
    assert len(stage.outlet.of(StepReport)) <= made + 1


@in_process_only("on ranks handlers never run inside a step")
async def test_events_land_whenever_a_free_loop_leaves_room_for_them(serve: Serve) -> None:
    stage = await serve("runs_free")
    stage.open()
    await stage.shown()
    await stage.ask("set_value", value=9)
    await stage.outlet.until(lambda: stage.outlet.of(Shown)[-1].value == 9)
    await stage.ask("note", text="an asynchronous handler")
    assert stage.outlet.of(StepReport) == []  # it takes no turns


async def test_connected_is_set_while_somebody_is_there(serve: Serve) -> None:
    stage = await serve("runs_in_turns")
    stage.start()
    assert await stage.ask_text("is_connected") == "False"
    assert await stage.ask_text("loops_so_far") == "0"
    stage.join()
    stage.join("b")
    await stage.shown(2)  # its steps wait for it, and need not
    stage.leave()
    assert await stage.ask_text("is_connected") == "True"
    await stage.outlet.more(Shown, 2)
    stage.leave("b")
    assert await stage.ask_text("is_connected") == "False"
    await stage.noted("left False")
    stage.join()
    await stage.outlet.more(Shown, 2)
    assert await stage.ask_text("is_connected") == "True"
    stage.end()
    stage.start("s2")
    assert await stage.ask_text("is_connected") == "False"


@in_process_only("on ranks a loop takes turns, and waits for them alone")
async def test_a_free_loop_waits_for_connected(serve: Serve) -> None:
    stage = await serve("runs_free")
    stage.start()
    assert await stage.ask_text("loops_so_far") == "0"
    stage.join()
    await stage.shown(2)
    stage.leave()
    first = int(await stage.ask_text("loops_so_far"))
    assert int(await stage.ask_text("loops_so_far")) <= first + 1
    stage.join()
    await stage.outlet.more(Shown, 2)


async def test_a_command_never_waits_for_a_client_that_joins_after_it(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("waits_for_events")
    stage.start()
    assert (await stage.ask("wait_for_a_client")).error_code == "internal_error"
    assert "waiting for connected in a command or hook would never end" in caplog.text
    stage.join()
    await stage.shown()
    assert (await stage.ask("wait_for_a_client")).error_code is None


async def test_a_loop_reports_its_step_by_hand(serve: Serve) -> None:
    stage = await serve("reports_in_turns")
    stage.open()
    await stage.ask("set_value", value=5)
    report = await stage.outlet.until(
        lambda: next((r for r in stage.outlet.of(StepReport) if not r.idle), None)
    )
    assert await stage.shown() == [5]  # what was emitted already is not shown again
    files = {"a": b"1", "c": b"3"}  # a turn is one step, however often the loop reports on it
    assert (report.files, report.error, report.refused) == (files, None, False)
    assert stage.outlet.of(StepReport)[report.number] == report
    assert stage.outlet.of(Shown)[0].chunk.compute_s == 0.25


async def test_a_handler_reports_a_step_by_hand(serve: Serve) -> None:
    stage = await serve("reports_in_turns")
    stage.start()
    await stage.ask("report", value=250)
    (report,) = await stage.steps()
    assert (report.session_id, report.number, report.files) == ("s1", 0, {"b": b"2"})
    assert report.idle is False
    assert stage.outlet.of(Shown) == []  # nobody is there
    stage.join()
    await stage.ask("report", value=251)
    await stage.shown()
    kinds = [type(r) for r in stage.outlet.reports if isinstance(r, Shown) or is_made(r)]
    assert kinds == [StepReport, Shown, StepReport]


def is_made(report: object) -> bool:
    return isinstance(report, StepReport) and not report.idle


@in_process_only("on ranks a loop takes turns, each of which is a step")
async def test_a_free_loop_reports_its_steps_by_hand(serve: Serve) -> None:
    stage = await serve("reports_by_hand")
    stage.open()
    await stage.ask("set_value", value=5)
    first, second = await stage.steps(2)
    assert await stage.shown(2) == [5, 250]  # what was emitted already is not shown again
    assert (first.number, first.files, first.step_s, first.idle) == (0, {"a": b"1"}, 0.5, False)
    assert second.number == 1
    assert len(stage.outlet.of(StepReport)) == 2  # outside a session a report is nothing
    assert stage.outlet.of(Shown)[0].chunk.compute_s == 0.25


@each_loop("reports_by_hand", "reports_in_turns")
async def test_emit_may_drop_instead_of_waiting(serve: Serve, loop: str) -> None:
    stage = await serve(loop)
    stage.outlet.room = 1
    stage.open()
    assert await stage.ask_text("show_or_drop") == "went on"
    assert await stage.ask_text("show_or_drop") == "went on"
    assert await stage.shown() == [99]
    await stage.outlet.next(Dropped)
    stage.outlet.give_room(None)
    assert await stage.ask_text("show_or_drop") == "went on"
    assert await stage.shown(2) == [99, 99]


@each_loop("polls_a_camera", "polls_in_turns")
async def test_a_loop_that_only_polls_its_input_lives_through_sessions(
    serve: Serve, loop: str
) -> None:
    stage = await serve(loop)
    for session_id in ("s1", "s2"):
        stage.open(session_id)
        await stage.opened(session_id)
        for value in (1, 2):  # the second for the next client
            before = len(stage.outlet.of(Shown))
            stage.push("camera", flat(value))
            (shown,) = await stage.outlet.more(Shown, after=before)
            assert shown.value == value
            stage.leave()
            stage.join()
        stage.end(session_id)
        await stage.closed(session_id)
    assert stage.outlet.of(HostFailure) == []


@pools_only
async def test_where_the_time_of_a_turn_went_is_told_and_logged(
    serve: Serve, world_size: int, caplog: pytest.LogCaptureFixture
) -> None:
    stage = await serve("takes_turns")
    with caplog.at_level(logging.DEBUG, "reactor_runtime.host.pool_pump"):
        stage.open()
        report = (await stage.steps(3))[2]
    ranks = report.ranks
    assert ranks is not None
    assert len(ranks.compute_s) == world_size
    slowest_s = max(ranks.compute_s)
    assert slowest_s >= 0.002  # the model sleeps that long
    # A rank may have begun before the last one was told.
    assert ranks.broadcast_s + ranks.collect_s >= slowest_s
    assert 0 < ranks.broadcast_s < report.step_s
    assert 0 <= ranks.slowest < world_size
    line = next(m for m in caplog.messages if m.startswith("turn_timing") and "turn=2" in m)
    for name in ("broadcast_s", "compute_s", "slowest", "collect_s", "copy_s", "room_s"):
        assert f"{name}=" in line
