"""Writes a log line from every place an author's code runs in."""

from typing import Any

from tests.models.parts import Picture, flat

from reactor_runtime import ReactorModel, connected, event, get_logger, session_started

log = get_logger("author")


class LogsInEveryPlace(ReactorModel):
    @session_started
    def begin(self) -> None:
        log.info("from_hook")

    @connected
    async def came(self) -> None:
        log.info("from_async_hook")

    @event
    def call(self) -> None:
        log.info("from_command")

    def generate(self, input: Any) -> Picture:
        log.info("from_step")
        return Picture(main_video=flat(1))
