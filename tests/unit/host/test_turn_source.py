import asyncio
from contextlib import aclosing

from reactor_runtime.host.turn_source import BodyState, Step, TurnSource
from reactor_runtime.model.turn import Turn


def step(number: int) -> Step:
    return Step(turn=Turn(number=number, time_s=0.0), began=0.0, apply_s=0.0)


def state_of(source: TurnSource) -> BodyState:
    return source.state


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_body_asks_steps_and_leaves() -> None:
    states: list[BodyState] = []
    source = TurnSource(lambda: states.append(source.state))
    seen: list[int | None] = []

    async def body() -> None:
        async with aclosing(source.turns()) as turns:
            async for turn in turns:
                seen.append(turn.number if turn else None)
                if turn is not None and turn.number == 1:
                    return

    task = asyncio.ensure_future(body())
    await settle()
    assert state_of(source) is BodyState.ASKING
    source.hand_out(step(0))
    assert state_of(source) is BodyState.STEPPING
    await settle()
    await source.let_go()
    source.hand_out(step(1))
    await task
    assert seen == [0, None, 1]
    assert states == [BodyState.ASKING] * 3 + [BodyState.AWAY]


async def test_letting_go_waits_until_the_body_has_closed_what_it_holds() -> None:
    source = TurnSource(lambda: None)
    closed = asyncio.Event()

    async def body() -> None:
        async with aclosing(source.turns()) as turns:
            async for turn in turns:
                if turn is None:
                    await closed.wait()

    task = asyncio.ensure_future(body())
    await settle()
    letting_go = asyncio.ensure_future(source.let_go())
    await settle()
    assert not letting_go.done()
    closed.set()
    await letting_go
    assert state_of(source) is BodyState.ASKING
    task.cancel()
    await asyncio.wait([task])
    assert state_of(source) is BodyState.AWAY


async def test_a_body_that_is_away_is_left_alone() -> None:
    source = TurnSource(lambda: None)
    await asyncio.wait_for(source.let_go(), 1)


async def test_a_forgotten_loop_does_not_end_the_turn_of_the_one_after_it() -> None:
    source = TurnSource(lambda: None)
    first, second = source.turns(), source.turns()
    asking = asyncio.ensure_future(anext(first))
    await settle()
    source.hand_out(step(0))
    await asking
    asking = asyncio.ensure_future(anext(second))
    await settle()
    source.hand_out(step(1))
    await asking
    await first.aclose()
    assert state_of(source) is BodyState.STEPPING
    await second.aclose()
    assert state_of(source) is BodyState.AWAY
