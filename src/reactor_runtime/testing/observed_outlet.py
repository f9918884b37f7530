"""ObservedOutlet: a session's outlet that a test can look at."""

from collections.abc import Callable

from reactor_runtime.clock import Clock
from reactor_runtime.host.host_outlet import HostFailure, StepReport
from reactor_runtime.metrics import Metrics
from reactor_runtime.session.media_stream import MediaStream
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.testing.host_turn import HostTurn


class ObservedOutlet(SessionOutlet):
    """Passes everything on, and keeps the reports of steps and the failures.

    Args:
        stream: Where chunks go.
        turn: Told whether a step runs.
        on_news: Called, from the host's threads, after each report.
        clock: The time.
        metrics: Where steps and drops are counted.

    Attributes:
        steps: Every finished step, refused ones included.
        failures: Everything that ended a session.
    """

    def __init__(
        self,
        stream: MediaStream,
        turn: HostTurn,
        on_news: Callable[[], None],
        *,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        super().__init__(stream, clock=clock, metrics=metrics)
        self.steps: list[StepReport] = []
        self.failures: list[HostFailure] = []
        self._turn, self._on_news = turn, on_news

    def step_begun(self, session_id: str, number: int) -> None:
        """Note that a step runs."""
        self._turn.begin_step()
        super().step_begun(session_id, number)

    def step_done(self, report: StepReport) -> None:
        """Keep the report."""
        super().step_done(report)
        self.steps.append(report)
        self._turn.end_step()
        self._on_news()

    def failed(self, failure: HostFailure) -> None:
        """Keep the failure."""
        self.failures.append(failure)
        self._turn.end_step()
        super().failed(failure)
        self._on_news()
