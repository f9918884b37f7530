"""What an author raises, or meets in a loop."""

from reactor_runtime.errors.reactor_error import ReactorError


class CommandError(ReactorError):
    """Raised by a command handler: the caller gets exactly this code and message."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code: str = code
        self.message: str = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code


class ApplicationError(ReactorError):
    """Raised in ``process_input``: the step is refused and asked again in some milliseconds."""

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return self.reason or "the step was refused"


class BufferClosed(ReactorError):  # noqa: N818 - a published name
    """Raised by an input buffer that will never hold another frame; ends a turn normally."""

    def __init__(self, track: str = "") -> None:
        super().__init__(track)
        self.track = track

    def __str__(self) -> str:
        return f"input track {self.track!r} is closed" if self.track else "the input is closed"


class EndlessWaitError(ReactorError):
    """Raised where a command or hook waits for a client: one that joins is heard of after it."""

    def __str__(self) -> str:
        return (
            "waiting for connected in a command or hook would never end: events are applied one by "
            "one, and a client that joins comes after this one. Do what waits in @connected, or in "
            "run()"
        )


class OutsideTurnError(ReactorError):
    """Raised where a model on several ranks does outside a turn what only a turn may do.

    Attributes:
        what: What was called.
    """

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return (
            f"{self.what} outside a turn: ranks run in lockstep, so a hand-written run() asks for "
            "its turns. Change\n"
            "    while True:\n"
            "        await self.connected.wait()\n"
            "to\n"
            "    async for turn in self.turns():"
        )
