"""Farewells: what clients are told before a session ends under them."""

from collections.abc import Sequence

from reactor_runtime.session.session_state import EndReason
from reactor_runtime.wire import messages as say

REASON_CHARS = 64


def farewell(
    reason: EndReason, told: str = "", notices: Sequence[say.Failure] = ()
) -> list[say.ServerMessage]:
    """Return what to say, in order: why as an error, then that it is over.

    The Python SDK makes an event of an error, and nothing of the notice that the session has ended;
    so one without a failure is told as an error, too. The older wire has no form for errors.

    Args:
        reason: Why, for the record.
        told: What clients read as the reason, instead.
        notices: What went wrong.
    """
    told = told or reason.value
    if reason is EndReason.MODERATED:  # every client makes something of that
        return [*notices, say.Moderation(action="terminate", message=told)]
    told = told[:REASON_CHARS]
    text = f"the session has ended: {told}"
    errors = notices or [say.Failure(code="session_ended", message=text)]
    return [*errors, say.SessionEnded(reason=told)]
