"""TaskRun: one task on this node, from its order to the last log line delivered."""

import shutil
import threading
import time
from collections import ChainMap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError, NodeNetworkError
from reactor_runtime.launcher.agent_messages import (
    Delivered,
    Ended,
    Outcome,
    Published,
    Started,
    TaskOrder,
)
from reactor_runtime.launcher.checkpoints import newest_checkpoint
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.control_link import persist
from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.log_shipper import LogShipper
from reactor_runtime.launcher.meeting import Place, meet
from reactor_runtime.launcher.network import NodeAddress, choose_address
from reactor_runtime.launcher.node_process import NodeProcess, place_here
from reactor_runtime.launcher.plan import plan_group
from reactor_runtime.launcher.rendezvous_store import HeldStore
from reactor_runtime.launcher.source_bundle import unpack_source
from reactor_runtime.launcher.store_contact import StoreContact
from reactor_runtime.log import get_logger

_LOG = get_logger("reactor_runtime.launcher")
Body = Published | Started | Ended | Delivered


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all tasks of one agent share.

    Attributes:
        address: Where peers reach this node.
        cores: How many processors a task's ranks share.
        held: Descriptors of the agent's work folder, which is taken as long as a keeper lives.
        patience_s: How long the control plane may be silent.
    """

    client: ControlClient
    address: NodeAddress
    cores: int
    held: tuple[int, ...]
    patience_s: float


class TaskRun:
    """Runs on a thread of its own; node 0's holds the store until ``release``."""

    def __init__(
        self, order: TaskOrder, node: Node, folder: Path, say: Callable[[Body], None]
    ) -> None:
        self._order, self._node, self._folder, self._say = order, node, folder, say
        self._stop, self._stop_reason = threading.Event(), ""
        self._unmatched: tuple[str, ...] = ()
        self._store: HeldStore | None = None
        self._process: NodeProcess | None = None
        self._thread = threading.Thread(target=self._run, name="task", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, failure: str = "") -> None:
        """End what runs; *failure* makes it the node's own failure and says why."""
        self._stop_reason = self._stop_reason or failure
        self._stop.set()

    def assure(self) -> None:
        """Pass a sign of life on to what runs."""
        if self._process is not None:
            self._process.assure()

    def wait(self, timeout_s: float) -> bool:
        """Return whether all is over within *timeout_s*."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def release(self) -> None:
        """Let go of the store and the folder: the attempt is over everywhere."""
        if self._store is not None:
            self._store.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self) -> None:
        order, logs = self._order, None
        try:
            logs = self._make_logs()
            outcome, failures = self._work(logs)
        except Exception as error:  # noqa: BLE001 - whatever it is, the job must hear of it
            was_asked = self._stop.is_set() and not self._stop_reason
            outcome = Outcome.CANCELLED if was_asked else Outcome.FAILED
            failures = [RankFailure(node_rank=order.node_rank, message=str(error) or repr(error))]
        if self._stop_reason:
            outcome = Outcome.FAILED
            failures.append(RankFailure(node_rank=order.node_rank, message=self._stop_reason))
        kept = () if outcome is Outcome.CANCELLED else tuple(failures)
        self._say(Ended(outcome=outcome, failures=kept))
        _LOG.info("task_ended", attempt=order.attempt_id, node_rank=order.node_rank, how=outcome)
        notes = tuple(self._deliver(logs))
        self._say(Delivered(notes=notes, unmatched=self._unmatched))

    def _make_logs(self) -> LogShipper:
        self._folder.mkdir(parents=True, exist_ok=True)
        order, files = self._order, self._node.client.files
        return LogShipper(self._folder / "node.log", files, order.attempt_id, order.node_rank)

    def _work(self, logs: LogShipper) -> tuple[Outcome, list[RankFailure]]:
        if self._stop.is_set():
            return Outcome.CANCELLED, []
        order, job = self._order, self._order.job
        address = self._own_address()
        endpoint = self._endpoint(address)
        self._unpack()
        place = Place(
            endpoint=endpoint,
            attempt_id=order.attempt_id,
            node_rank=order.node_rank,
            num_workers=job.num_workers,
            join_timeout_s=job.rendezvous.join_timeout_s,
            addresses=order.peers,
        )
        client, resume = meet(
            place, self._stop, self._checkpoint() if order.node_rank == 0 else None
        )
        log_dir = str(self._folder / "logs")
        node = place_here(order.attempt_id, address, log_dir, self._node.cores, resume)
        task = plan_group(job)[order.node_rank]
        self._process = NodeProcess(task, endpoint, node, self._work_dir, self._node.held)
        self._say(Started())
        contact = StoreContact(place, client)
        outcome, failures = self._process.run(self._node.patience_s, logs.write, self._stop)
        cut = contact.end()
        if cut is None or outcome is Outcome.SUCCEEDED:
            return outcome, failures
        return Outcome.FAILED, [cut, *failures]

    def _own_address(self) -> NodeAddress:
        wanted = self._order.job.rendezvous.interface
        if wanted is None:
            return self._node.address
        address = choose_address(self._node.client.url, wanted)
        if address.is_loopback and not self._node.address.is_loopback:
            reason = "is loopback, which the job's other hosts cannot reach; name another one"
            raise NodeNetworkError(wanted, reason)
        return address

    def _endpoint(self, address: NodeAddress) -> str:
        if self._order.node_rank > 0:
            return self._order.endpoint or ""
        self._store = HeldStore(address.address, self._order.job.rendezvous.port)
        self._say(Published(endpoint=self._store.endpoint))
        return self._store.endpoint

    def _unpack(self) -> None:
        archive, files = self._folder / "source.tar.gz", self._node.client.files
        fetch = partial(files.fetch_source, self._order.source, archive)
        persist(fetch, self._order.job.rendezvous.join_timeout_s, self._stop)
        unpack_source(archive, self._work_dir, self._order.source)
        archive.unlink()

    def _checkpoint(self) -> str | None:
        block = self._order.job.checkpoint
        return newest_checkpoint(self._work_dir / block.path) if block else None

    @property
    def _work_dir(self) -> Path:
        return self._folder / "work"

    def _deliver(self, logs: LogShipper | None) -> Iterator[str]:
        """Send outputs and the end of the log; yield a note for each thing that was not sent."""
        try:
            yield from self._send_outputs()
        except Exception as error:  # noqa: BLE001 - whatever it is, the job must not wait for it
            yield f"the outputs could not be read: {error!r}"
        if logs is None or not logs.finish(self._node.patience_s):
            yield "the end of the log could not be delivered"

    def _send_outputs(self) -> Iterator[str]:
        order, files = self._order, self._node.client.files
        deadline = time.monotonic() + self._node.patience_s
        found = {glob: matching(self._work_dir, glob) for glob in order.job.outputs}
        self._unmatched = tuple(glob for glob, files in found.items() if not files)
        for name, path in sorted(ChainMap(*found.values()).items()):
            send = partial(files.send_output, order.job_id, order.node_rank, name, path)
            try:
                persist(send, deadline - time.monotonic(), threading.Event())
            except (ControlPlaneAbsentError, ControlPlaneError, OSError, UnicodeError) as error:
                yield f"{ascii(name)[1:-1]}: {error}"


def matching(folder: Path, pattern: str) -> dict[str, Path]:
    """Return the files below *folder* that match, by name; none through a link that leaves it."""
    root = folder.resolve()
    return {
        str(path.relative_to(folder)): path
        for path in folder.glob(pattern)
        if path.is_file() and path.resolve().is_relative_to(root)
    }
