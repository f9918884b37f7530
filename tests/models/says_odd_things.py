"""Metadata that cannot leave its process, or no longer, or cannot be read in another."""

from typing import Any

from tests.models.parts import Picture, flat

from reactor_runtime import InputState, ReactorModel, TrackPayload


def fail(error: type[BaseException]) -> None:
    raise error("it cannot be read")


class Unreadable:
    def __init__(self, error: type[BaseException] = ValueError) -> None:
        self.error = error

    def __reduce__(self) -> tuple[object, tuple[type[BaseException]]]:
        return fail, (self.error,)


class OddState(InputState):
    way: str = ""


class SaysOddThings(ReactorModel):
    state: OddState

    async def generate(self, state: OddState) -> None:
        way, state.way = state.way, ""
        odd: Any = {
            "local": lambda: None,
            "unreadable": Unreadable(),
            "exits": Unreadable(SystemExit),
            "changed": [],
        }.get(way)
        await self.emit(Picture(main_video=TrackPayload(flat(5), odd)))  # local
        if way == "changed":
            odd.append(lambda: None)
            raise ValueError("after the picture")
