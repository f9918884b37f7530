"""BenchParts: what a model under test is joined to."""

from dataclasses import dataclass, replace
from typing import Any, Self

from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.served_model import make_host, media_settings, session_settings
from reactor_runtime.session.session import Session
from reactor_runtime.settings import ServeSettings
from reactor_runtime.testing.captured_stream import CapturedStream
from reactor_runtime.testing.fake_clock import FakeClock
from reactor_runtime.testing.host_turn import HostTurn
from reactor_runtime.testing.news import News
from reactor_runtime.testing.observed_outlet import ObservedOutlet


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchParts:
    """One of each.

    Attributes:
        clock: The time.
        turn: What the host waits for.
        news: Told whenever there may be something to do.
        stream: The output media.
        outlet: What the host reports to.
        host: Where the model runs.
        session: Who is here and what may happen next.
    """

    clock: FakeClock
    turn: HostTurn
    news: News
    stream: CapturedStream
    outlet: ObservedOutlet
    host: ModelHost
    session: Session

    @classmethod
    def make(cls, model_class: type[Any], settings: ServeSettings, start_wait_s: float) -> Self:
        """Return the parts for *model_class*, joined and not started; call it on the loop."""
        clock, turn, news, metrics = FakeClock(), HostTurn(), News(), Metrics()
        stream = CapturedStream(
            ModelContract.of(model_class).tracks,
            settings=media_settings(settings, model_class),
            clock=clock,
            turn=turn,
            on_news=news.tell,
        )
        outlet = ObservedOutlet(stream, turn, news.tell, clock=clock, metrics=metrics)
        # Time stands still while the host computes: nothing is to go on beside it.
        host = make_host(model_class, settings, outlet, clock, converts_beside=False)
        told = session_settings(settings)
        limits = replace(
            told,
            start_wait_s=start_wait_s,
            stats_interval_s=0.0,
            # Rates are a matter of the machine's time, which does not pass here.
            command_burst=1_000_000,
            requests_per_s=1_000_000.0,
            uploads=replace(told.uploads, reservation_burst=1_000_000, min_free_bytes=0),
        )
        session = Session(host, outlet=outlet, settings=limits, clock=clock, metrics=metrics)
        return cls(
            clock=clock,
            turn=turn,
            news=news,
            stream=stream,
            outlet=outlet,
            host=host,
            session=session,
        )
