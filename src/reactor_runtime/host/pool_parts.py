"""PoolParts: what a host of several ranks is made of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.distributed.worker_group import WorkerGroup
from reactor_runtime.host.chunk_in_flight import ChunkInFlight
from reactor_runtime.host.event_queue import EventQueue
from reactor_runtime.host.failure_policy import FailurePolicy
from reactor_runtime.host.failures import ToldFailures
from reactor_runtime.host.frame_feed import FrameFeed
from reactor_runtime.host.host_outlet import HostOutlet
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.live_session import Gate
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.host.pool_stage import PoolStage
from reactor_runtime.host.rank_calls import RankCalls
from reactor_runtime.host.rank_messages import Flushed, Paced, Said
from reactor_runtime.host.rank_model import RankModel
from reactor_runtime.host.rank_report_teller import RankReportTeller
from reactor_runtime.model.contract import ModelContract


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolParts:
    """One of each.

    Attributes:
        outlet: Where the host reports.
        queue: What was posted.
        clock: The time.
        gate: Whether steps run and emissions count.
        feed: What clients sent.
        group: The ranks.
        calls: How they are called.
        stage: Where what they emit goes.
        teller: Where what they report goes.
    """

    outlet: HostOutlet
    queue: EventQueue
    clock: Clock
    gate: Gate
    feed: FrameFeed
    group: WorkerGroup
    calls: RankCalls
    stage: PoolStage
    teller: RankReportTeller

    @classmethod
    def make(
        cls,
        pool: PoolSettings,
        outlet: HostOutlet,
        contract: ModelContract,
        *,
        clock: Clock,
        settings: HostSettings,
        wake: Callable[[], None],
    ) -> Self:
        """Return the parts, nothing started; *wake* is called, from any thread, when to look.

        Raises:
            WorkerGroupRefusedError: The ranks cannot be started like that.
        """
        group = make_group(pool, settings)
        in_flight = ChunkInFlight(outlet, clock, wake, is_beside=pool.converts_beside)
        queue = EventQueue(wake)
        gate = Gate(queue)
        feed = FrameFeed(contract.tracks, is_expected=lambda: queue.expects_clients)
        failures = ToldFailures(outlet, FailurePolicy(settings.on_failure))
        return cls(
            outlet=outlet,
            queue=queue,
            clock=clock,
            gate=gate,
            feed=feed,
            group=group,
            # Reads time out by the machine's clock, as those of a model in this process do.
            calls=RankCalls(group, feed, gate, settings=settings, clock=SystemClock()),
            stage=PoolStage(outlet, gate, clock, in_flight),
            teller=RankReportTeller(outlet, queue, gate, failures),
        )

    def hear(self, rank: int, notice: Any) -> None:
        """Take note of what the leader says beside its answers, on whichever thread hears it."""
        match notice:
            case Said():
                self.outlet.message(notice.message)
            case Flushed():
                self.stage.flush(notice.until)
            case Paced():
                self.stage.set_fps(notice.fps)


def make_group(pool: PoolSettings, settings: HostSettings) -> WorkerGroup:
    """Return the ranks, not started.

    Raises:
        WorkerGroupRefusedError: They cannot be started like that.
    """
    return WorkerGroup(
        RankModel,
        pool.world_size,
        init_process_group=pool.init_process_group,
        device=pool.device,
        comm_backend=pool.comm_backend,
        oversubscribe=pool.oversubscribe,
        env=pool.env,
        turn_timeout=settings.turn_timeout_s,
        first_turn_timeout=settings.first_turn_timeout_s,
        load_timeout=pool.load_timeout_s,
        settle_timeout=pool.settle_timeout_s,
        comm_timeout=pool.comm_timeout_s,
    )
