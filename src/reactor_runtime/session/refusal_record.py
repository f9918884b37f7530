"""RefusalRecord: what operators learn of commands that were refused, or failed."""

from collections.abc import Callable

from reactor_runtime.log import get_logger
from reactor_runtime.session.client import Client
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.token_bucket import TokenBucket
from reactor_runtime.wire import messages as say

log = get_logger(__name__)

_PER_S, _BURST = 10.0, 100.0  # a flood of wrong commands is no flood of lines and events
_NAME_CHARS = 64
_TOLD_BY_ITS_CAUSE = "session_ended"
_LOGGED_BY_ITS_CAUSE = frozenset({"internal_error"})


class RefusalRecord:
    """Tells operators by an event, and whoever reads the log by a line without any value.

    Args:
        wiring: The time.
        note: Records an event for operators.
    """

    def __init__(self, wiring: Wiring, note: Callable[..., None]) -> None:
        self._clock, self._note = wiring.clock, note
        self._bucket = TokenBucket(_PER_S, _BURST, wiring.clock.now())

    def add(
        self, client: Client, name: str, failure: say.Failure, field: str | None = None
    ) -> None:
        """Record that the command *name* of *client* was answered by *failure*.

        Args:
            client: Who called.
            name: What was called, as the client has it.
            failure: What it was told.
            field: The argument that was wrong, if it was one.
        """
        if failure.code == _TOLD_BY_ITS_CAUSE or not self._bucket.take(self._clock.now()):
            return
        self._note(
            "error",
            message=failure.message,
            command=name[:_NAME_CHARS],
            code=failure.code,
            conn_id=client.connection.connection_id,
            request_id=failure.request_id,
            transport="webrtc",
        )
        if failure.code not in _LOGGED_BY_ITS_CAUSE:
            facts = {"command": _name(name), "code": failure.code, "field": _name(field)}
            said = {key: fact for key, fact in facts.items() if fact}
            log.info("command_refused", client=client.client_id, **said)


def _name(text: str | None) -> str | None:
    """Return *text* where it is a name at all: anything else may be a value, out of its place."""
    return text if text and text.isidentifier() and len(text) <= _NAME_CHARS else None
