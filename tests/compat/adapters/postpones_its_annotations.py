"""The same types, with postponed annotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Literal, Optional  # noqa: UP035 - as authors write

from reactor_runtime import ClientInfo, InputField, ModelMessage, ReactorModel, event

Speed = Literal["slow", "fast"]
Path = list[list[float]]


@dataclass
class Point:
    x: float
    y: float = 0.0


class Taken(ModelMessage):
    words: str


class PostponesItsAnnotations(ReactorModel):
    @event
    async def plain(
        self, text: str, count: int, size: float, on: bool, client: ClientInfo
    ) -> Taken:
        return self.taken(text, count, size, on)

    @event
    async def chosen(
        self,
        speed: Speed,
        number: Literal[1, 2] = 1,
        text: str = InputField(default="a", choices=["a", "b"], min_length=1, max_length=1),
    ) -> Taken:
        return self.taken(speed, number, text)

    @event
    async def absent(
        self,
        word: str | None = None,
        numbers: Optional[List[int]] = None,  # noqa: UP006, UP045 - as authors write
        limit: int | None = InputField(default=None, description="The most"),
    ) -> Taken:
        return self.taken(word, numbers, limit)

    @event
    async def nested(self, path: Path, point: Point, points: list[Point]) -> Taken:
        return self.taken(path, point, points)

    def taken(self, *values: object) -> Taken:
        return Taken(words=repr(values))

    def generate(self, input: object) -> None:
        return None
