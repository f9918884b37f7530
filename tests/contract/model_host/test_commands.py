"""Commands: one answer each, in the order of posting."""

import asyncio
import logging
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.model_host.conftest import MakeHost, Serve, warnings_of
from tests.contract.model_host.recording_outlet import RecordingOutlet, Shown
from tests.contract.model_host.stage import Stage
from tests.waiting import until

from reactor_runtime.host.host_outlet import CommandReply, HostFailure, OutboundMessage, StepReport


async def test_commands_are_applied_in_the_order_of_posting(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    for number in range(50):
        stage.call("note", text=str(number))
    await stage.noted("49")
    assert [text for text in stage.texts if text.isdigit()] == [str(n) for n in range(50)]


async def test_an_asynchronous_handler_completes_before_the_next_event(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    stage.call("slow_note", text="one")
    stage.call("note", text="two")
    stage.join("b")
    await stage.noted("welcome b")
    after = stage.texts[stage.texts.index("begin one") :]
    assert after[:3] == ["begin one", "end one", "two"]


async def test_commands_need_no_client_to_be_applied(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.start()
    assert await stage.ask_text("echo", text="early") == "early"


async def test_a_returned_message_answers_the_caller(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    reply = await stage.ask("echo", text="hello")
    assert (reply.client_id, reply.message_name, reply.message_body) == (
        "a",
        "note",
        {"text": "hello"},
    )
    assert reply.error_code is None
    assert "hello" not in stage.texts  # to nobody else


async def test_a_message_that_nobody_it_is_for_takes_is_refused_at_send(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    stage.join("b", max_message_bytes=1_000)
    for name, client, size, is_sent in (
        ("note", "a", 300_000, False),
        ("note", "a", 100_000, True),  # to all: one of them takes it
        ("whisper", "a", 100_000, True),
        ("whisper", "b", 100_000, False),
        ("whisper", "b", 900, True),
    ):
        text = f"{name} {client} {size} ".ljust(size, "x")
        reply = await stage.ask(name, client, text=text)
        assert (reply.error_code, text in stage.texts) == (
            (None, True) if is_sent else ("internal_error", False)
        )


@pytest.mark.parametrize("name", ["note", "returns_a_dict"])
async def test_what_returns_no_message_is_acknowledged(serve: Serve, name: str) -> None:
    stage = await serve("notes_everything")
    stage.open()
    reply = await stage.ask(name, **({"text": "x"} if name == "note" else {}))
    assert (reply.message_name, reply.error_code) == (None, None)


async def test_an_answer_that_is_no_message_is_warned_of_once(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        stage = await serve("notes_everything")
        stage.open()
        for _ in range(2):
            await stage.ask("returns_a_dict")
        await stage.ask("note", text="x")  # returns None
        await stage.ask("returns_a_number")
        await until(
            lambda: warnings_of(caplog, "returns_a_number")
        )  # a rank's lines come by a pipe
    (said,) = warnings_of(caplog, "returns_a_dict")
    for part in ("answer_dropped", "'dict'", "return Note, or nothing"):
        assert part in said
    assert not warnings_of(caplog, "'note'")


async def test_a_handler_may_ask_who_calls(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    stage.join("b")
    assert await stage.ask_text("who", client_id="b") == "b"


async def test_a_handler_may_answer_the_caller_alone(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    await stage.ask("whisper", text="psst")
    assert [m.client_id for m in stage.outlet.of(OutboundMessage) if m.body["text"] == "psst"] == [
        "a"
    ]


async def test_a_state_field_is_set_by_its_command(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    reply = await stage.ask("set_level", level=200)
    assert (reply.message_name, reply.error_code) == (None, None)
    assert await stage.ask_text("level_now") == "200"
    await stage.outlet.until(lambda: any(s.value == 200 for s in stage.outlet.of(Shown)))


async def test_a_command_error_reaches_the_caller_as_it_is(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    reply = await stage.ask("refuse")
    assert (reply.error_code, reply.error_message) == ("too_early", "come back later")


@pytest.mark.parametrize("name", ["fail", "leave_the_process", "cancel_itself"])
async def test_any_other_exception_keeps_its_text_in_the_log(
    serve: Serve, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    stage = await serve("notes_everything")
    stage.open()
    with caplog.at_level(logging.ERROR):
        reply = await stage.ask(name)
    assert reply.error_code == "internal_error"
    assert "secret" not in reply.error_message
    (record,) = [r for r in caplog.records if r.exc_info]
    assert name in record.getMessage()
    assert stage.outlet.of(HostFailure) == []
    assert await stage.ask_text("echo", text="still here") == "still here"


async def test_a_command_that_does_not_exist_is_refused(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    assert (await stage.ask("no_such_thing")).error_code == "invalid_command"


async def test_without_a_session_a_command_is_answered_at_once(serve: Serve) -> None:
    stage = await serve("notes_everything")
    assert (await stage.ask("echo", text="x")).error_code == "session_ended"
    stage.open()
    stage.end()
    assert (await stage.ask("echo", text="x")).error_code == "session_ended"


async def test_a_withdrawn_command_neither_runs_nor_is_answered(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    stage.call("slow_note", text="x")
    withdrawn = stage.call("note", text="never")
    assert stage.host.withdraw(withdrawn)
    assert not stage.host.withdraw(withdrawn)
    await stage.ask("note", text="last")
    assert "never" not in stage.texts
    assert stage.outlet.reply_to(withdrawn) is None


async def test_a_command_that_has_begun_cannot_be_withdrawn(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    call_id = stage.call("slow_note", text="x")
    await stage.noted("begin x")
    assert not stage.host.withdraw(call_id)
    assert (await stage.reply(call_id)).error_code is None


async def test_a_flood_of_commands_does_not_starve_the_stream(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.open()
    await stage.steps(1)
    before, calls = len(stage.outlet.of(StepReport)), []
    while len(stage.outlet.of(StepReport)) < before + 5:
        calls += [stage.call("slow_note", text="x") for _ in range(20)]  # there are always some
        await stage.reply(calls[-10])
    assert stage.outlet.reply_to(calls[-1]) is None


async def test_an_answer_waits_for_no_other_command(serve: Serve) -> None:
    stage = await serve("notes_everything")
    stage.start()
    await stage.opened()
    stage.call("slow_note", text="first")  # the others are pending together behind it
    calls = [stage.call("echo", text=text) for text in ("a", "b")]
    stage.call("slow_note", text="last")
    await stage.noted("end last")
    reports = stage.outlet.reports
    (begun,) = [r for r in stage.outlet.of(OutboundMessage) if r.body["text"] == "begin last"]
    for call_id in calls:
        assert reports.index(stage.outlet.reply_to(call_id)) < reports.index(begun)


async def test_no_handler_runs_during_a_step(serve: Serve) -> None:
    stage = await serve("takes_turns")
    stage.open()
    for _ in range(20):
        await stage.ask("note", text="applied")
    assert [t for t in stage.texts if t.startswith("applied")] == ["applied between steps"] * 20


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    scripts=st.lists(
        st.lists(st.sampled_from(["note", "echo", "refuse", "fail", "slow_note"]), max_size=12),
        min_size=1,
        max_size=4,
    ),
    withdrawn=st.sets(st.integers(0, 40)),
)
def test_from_many_threads_every_call_is_answered_once_and_in_its_threads_order(
    make_host: MakeHost, scripts: list[list[str]], withdrawn: set[int]
) -> None:
    asyncio.run(_post_from_threads(make_host, scripts, withdrawn))


async def _post_from_threads(
    make_host: MakeHost, scripts: list[list[str]], withdrawn: set[int]
) -> None:
    outlet = RecordingOutlet()
    async with make_host("notes_everything", outlet) as host:
        stage = Stage(host, outlet)
        stage.open()
        posted: list[list[int]] = [[] for _ in scripts]
        taken_back: set[int] = set()

        def play(index: int) -> None:
            for number, name in enumerate(scripts[index]):
                wants_text = name not in {"refuse", "fail"}
                arguments = {"text": f"{index}.{number}"} if wants_text else {}
                call_id = stage.call(name, **arguments)
                if number in withdrawn and stage.host.withdraw(call_id):
                    taken_back.add(call_id)
                else:
                    posted[index].append(call_id)

        threads = [threading.Thread(target=play, args=(i,)) for i in range(len(scripts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = {call_id for calls in posted for call_id in calls}
        await outlet.until(lambda: len(outlet.of(CommandReply)) >= len(expected))
        stage.end()
        await stage.closed()
    answered = [reply.call_id for reply in outlet.of(CommandReply)]
    assert sorted(answered) == sorted(expected)
    assert not taken_back & set(answered)
    for calls in posted:
        assert [call_id for call_id in answered if call_id in set(calls)] == calls
