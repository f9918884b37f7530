"""StepKeeper: what a session and its outlet tell whoever keeps the result of every step."""

from typing import Protocol

from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.session.session_state import SessionState


class StepKeeper(Protocol):
    """Keeps what each step showed, and what its author put on record."""

    def follow(self, state: SessionState) -> None:
        """Note that the session is in *state*. Called on the event loop; never blocks."""
        ...

    def name(self, session_id: str, given: str) -> None:
        """Let the results of *session_id* be found by the id its starter has *given*, too."""
        ...

    def step_done(self, report: StepReport) -> None:
        """Keep the step that *report* tells of. Called on the host's thread; never blocks."""
        ...
