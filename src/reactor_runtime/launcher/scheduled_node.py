"""ScheduledNode: one node of a job whose machines a scheduler gave; no control plane, no agent.

The store of node 0 is all the nodes have in common. Through it they meet, give signs of life, say
how they ended, and learn of the first failure; node 0 keeps it until all have heard.
"""

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reactor_runtime.cores import usable_cores
from reactor_runtime.errors import NodeNetworkError, RendezvousError, SettingError
from reactor_runtime.host_port import join_host_port
from reactor_runtime.launcher.agent_messages import Outcome
from reactor_runtime.launcher.allocation import lacks_devices
from reactor_runtime.launcher.checkpoints import newest_checkpoint
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.failures import RankFailure, first_cause
from reactor_runtime.launcher.meeting import Place, meet
from reactor_runtime.launcher.network import NodeAddress, choose_address
from reactor_runtime.launcher.node_beats import (
    ENDED,
    FAILED,
    HEARTBEAT_S,
    LIMIT_S,
    NodeBeats,
    failures_from_text,
    failures_to_text,
)
from reactor_runtime.launcher.node_process import NodeProcess, place_here
from reactor_runtime.launcher.plan import plan_group
from reactor_runtime.launcher.rendezvous_store import (
    HeldStore,
    StoreClient,
    visible_devices,
    within,
)
from reactor_runtime.launcher.scheduler_env import SchedulerPlace
from reactor_runtime.scratch_folder import ScratchFolder

_FAREWELL_S = 15.0
_ASK_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResult:
    """How one node saw the job end: *causes*, the first one first."""

    outcome: Outcome
    causes: tuple[RankFailure, ...] = ()


class ScheduledNode:
    """Runs this node's part of *job* at *place*, in the folder *source*."""

    def __init__(
        self,
        job: DistributedJob,
        source: Path,
        place: SchedulerPlace,
        sink: Callable[[bytes], None],
    ) -> None:
        self._job, self._source, self._place, self._sink = job, source, place, sink
        self._stop, self._is_over = threading.Event(), threading.Event()
        self._process: NodeProcess | None = None
        self._foreign: list[RankFailure] = []

    def stop(self) -> None:
        """End what runs here."""
        self._stop.set()

    def run(self) -> NodeResult:
        """Meet the other nodes, run this one's ranks, and wait for how the others end.

        Raises:
            RendezvousError: The nodes did not meet.
            NodeNetworkError: The interface will not do, or the master's name is unknown.
            SettingError: The job wants devices that this node does not have.
        """
        place = self._place
        lack = lacks_devices(self._job, str(place.node_rank), visible_devices())
        if lack is not None:
            raise SettingError("comm_backend", f"nccl, and {lack}", "gloo, or other nodes")
        master = resolved(place.master, self._job.rendezvous.join_timeout_s)
        endpoint = join_host_port(master, place.port)
        address = choose_address(f"http://{endpoint}", self._job.rendezvous.interface)
        store = HeldStore(address.address, place.port) if place.node_rank == 0 else None
        if store is not None:
            endpoint = store.endpoint
        try:
            return self._run(endpoint, address)
        except RendezvousError as error:
            raise _with_hint(error, address) from error
        finally:
            if store is not None:
                store.close()

    def _run(self, endpoint: str, address: NodeAddress) -> NodeResult:
        place, job = self._place, self._job
        meeting = Place(
            endpoint=endpoint,
            attempt_id=place.run_id,
            node_rank=place.node_rank,
            num_workers=place.num_workers,
            join_timeout_s=job.rendezvous.join_timeout_s,
        )
        block = job.checkpoint
        newest = newest_checkpoint(self._source / block.path) if block else None
        client, resume = meet(meeting, self._stop, newest)
        with ScratchFolder("node") as scratch:
            node = place_here(place.run_id, address, str(scratch.path), usable_cores(), resume)
            task = plan_group(job)[place.node_rank]
            self._process = NodeProcess(task, endpoint, node, self._source)
            watch = threading.Thread(
                target=self._watch, args=(endpoint,), name="nodes", daemon=True
            )
            watch.start()
            outcome, failures = self._process.run(LIMIT_S * 3, self._sink, self._stop)
        self._is_over.set()
        return self._conclude(client, outcome, failures)

    def _conclude(
        self, client: StoreClient, outcome: Outcome, failures: list[RankFailure]
    ) -> NodeResult:
        """Say how this node ended, and hear how the others did."""
        rank = self._place.node_rank
        if outcome is Outcome.CANCELLED and not self._foreign:
            failures = [RankFailure(node_rank=rank, message="told to stop")]
        text = failures_to_text(failures)
        try:
            within(_ASK_S, lambda: client.set(f"{ENDED}/{rank}", text), "the store", rank)
            if failures:
                within(_ASK_S, lambda: client.set(FAILED, text), "the store", rank)
            others = within(
                self._job.timeout_s + _FAREWELL_S, lambda: self._farewell(client), "ends", rank
            )
        except RendezvousError as error:
            others = [RankFailure(node_rank=0, message=f"the store is gone: {error}")]
        causes = first_cause([*failures, *self._foreign, *others])
        unique = tuple(dict.fromkeys(causes))
        return NodeResult(outcome=Outcome.FAILED if unique else Outcome.SUCCEEDED, causes=unique)

    def _farewell(self, client: StoreClient) -> list[RankFailure]:
        """Wait until every node has ended; after a failure not for long."""
        ranks = set(range(self._place.num_workers)) - {self._place.node_rank}
        found: list[RankFailure] = []
        patience: float | None = None
        ranks -= {failure.node_rank for failure in self._foreign if failure.rank is None}
        while ranks:
            for rank in [r for r in ranks if client.has(f"{ENDED}/{r}")]:
                ranks.discard(rank)
                found += failures_from_text(client.get(f"{ENDED}/{rank}"))
            if client.has(FAILED) or self._foreign:
                patience = patience or time.monotonic() + LIMIT_S / 2
            if patience is not None and time.monotonic() > patience:
                break
            time.sleep(0.05)
        client.set(f"heard/{self._place.node_rank}", "1")
        if self._place.node_rank == 0:
            self._wait_for_hearers(client)
        return found

    def _wait_for_hearers(self, client: StoreClient) -> None:
        deadline = time.monotonic() + HEARTBEAT_S * 2
        while time.monotonic() < deadline:
            if all(client.has(f"heard/{r}") for r in range(self._place.num_workers)):
                return
            time.sleep(0.05)

    def _watch(self, endpoint: str) -> None:
        """Give signs of life, look for those of others, and for the first failure."""
        beats = NodeBeats(self._place)
        try:
            client = StoreClient(endpoint, self._place.run_id, LIMIT_S)
            while not self._is_over.is_set():
                failures = within(LIMIT_S, lambda: beats.exchange(client), "nodes", 0)
                if self._process is not None:
                    self._process.assure()
                if failures:
                    self._foreign += failures
                    self._stop.set()
                    return
                self._is_over.wait(HEARTBEAT_S / 2)
        except (RendezvousError, OSError) as error:
            if not self._is_over.is_set():
                words = f"lost: node {self._place.node_rank} cannot reach its store ({error})"
                self._foreign.append(RankFailure(node_rank=0, message=words))
                self._stop.set()


def _with_hint(error: RendezvousError, address: NodeAddress) -> RendezvousError:
    if not address.is_loopback:
        return error
    hint = (
        f"this node shows {address.address} to the others, a loopback address that only its own "
        "host can reach; name the network in rendezvous.interface"
    )
    return RendezvousError(error.node_rank, f"{error.reason}; {hint}")


def resolved(name: str, within_s: float) -> str:
    """Return an address of *name* as a literal, asking again while it is not known yet.

    Raises:
        NodeNetworkError: It is still unknown after *within_s*.
    """
    deadline = time.monotonic() + within_s
    while True:
        try:
            return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
        except OSError as error:
            if time.monotonic() > deadline:
                reason = f"the node of rank 0 has an unknown name ({error})"
                raise NodeNetworkError(name, reason) from error
            time.sleep(0.5)
