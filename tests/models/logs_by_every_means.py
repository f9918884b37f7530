"""Logs a lot when a session starts: by the runtime's logger, structlog, stdlib, print, a thread."""

import logging
import threading
import warnings

import structlog
from tests.models.parts import Picture, flat

from reactor_runtime import ReactorModel, get_logger, session_started

LINES = 3400  # of each kind
SECRET = "s3cr3t-t0k3n"

ours = get_logger("author.ours")
theirs = structlog.get_logger("author.theirs")
plain = logging.getLogger("author.plain")


class LogsByEveryMeans(ReactorModel):
    @session_started
    def begin(self) -> None:
        for number in range(LINES):
            ours.info("ours", number=number, token=SECRET, pad="x" * (number % 500))
            theirs.info("theirs", number=number, url=f"/events?token={SECRET}")
            plain.info("plain %d\nsecond line", number)
        ours.debug("ours_debug")
        plain.debug("plain debug")
        print("printed by the model")  # noqa: T201 - authors do
        warnings.warn("a warning of the model", stacklevel=1)
        thread = threading.Thread(target=self.fail, name="author-thread")
        thread.start()
        thread.join()
        try:
            self.fail()
        except ValueError:
            ours.exception("caught")

    def fail(self) -> None:
        raise ValueError("of the author")

    def generate(self, input: object) -> Picture:
        return Picture(main_video=flat(1))
