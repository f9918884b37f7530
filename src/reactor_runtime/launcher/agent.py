"""Agent: one per node; offers it, holds its tasks, and lets them go when they are over.

It is told what to hold, not what to do: the control plane sends the whole list of this node's
tasks after every change, and what is missing from a list is over. So a lost or repeated answer
changes nothing.
"""

import contextlib
import itertools
import threading
import time
from collections.abc import Callable

from reactor_runtime.errors import ControlPlaneAbsentError, ControlPlaneError
from reactor_runtime.launcher.agent_folder import AgentFolder
from reactor_runtime.launcher.agent_messages import (
    Beat,
    NodeOffer,
    Orders,
    Report,
    TaskOrder,
    Terms,
)
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.control_link import REQUEST_S
from reactor_runtime.launcher.network import NodeAddress
from reactor_runtime.launcher.report_spool import ReportSpool
from reactor_runtime.launcher.task_run import Body, Node, TaskRun
from reactor_runtime.log import get_logger

_LOG = get_logger("reactor_runtime.launcher")
HOLD_S = 20
_RETRY_S = 0.5
STOP_S = 8.0
NAME_PATIENCE_S = 12.0  # longer than a dead namesake is taken to live
_TAKEN, _FAULTY = 409, 500


class Agent:
    """``run`` blocks until ``stop``; heartbeats, orders and reports have a thread each."""

    def __init__(
        self, offer: NodeOffer, client: ControlClient, folder: AgentFolder, cores: int
    ) -> None:
        self._offer, self._client, self._folder, self._cores = offer, client, folder, cores
        self._spool = ReportSpool(folder.spool, client, self._on_refused)
        self._runs: dict[tuple[str, int], TaskRun] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._terms = Terms(heartbeat_s=1.0, control_timeout_s=300.0)
        self._heard_at = time.monotonic()

    def run(self) -> None:
        """Offer the node and do what is ordered until told to stop.

        Raises:
            ControlPlaneError: The control plane does not want this node.
        """
        if not self._register():
            return
        is_over = threading.Event()
        beating = threading.Thread(target=self._beat, args=(is_over,), name="_beat", daemon=True)
        beating.start()
        for body in (self._follow, self._spool.run):
            threading.Thread(target=body, name=body.__name__, daemon=True).start()
        self._stopping.wait()
        self._wind_up()
        is_over.set()
        beating.join(REQUEST_S)  # one that is on its way still would make the agent alive again
        with contextlib.suppress(ControlPlaneAbsentError, ControlPlaneError):
            self._client.beat(self._sign.model_copy(update={"is_last": True}))

    def stop(self) -> None:
        """End; what runs here fails its job."""
        self._stopping.set()

    def _register(self) -> bool:
        deadline = time.monotonic() + NAME_PATIENCE_S
        while not self._stopping.is_set():
            try:
                self._terms = self._client.register(self._offer)
            except ControlPlaneAbsentError as error:
                _LOG.warning("control_plane_absent", reason=error.reason)
                self._stopping.wait(_RETRY_S)
            except ControlPlaneError as error:
                is_late = time.monotonic() > deadline
                if error.status < _FAULTY and (error.status != _TAKEN or is_late):
                    raise
                self._stopping.wait(_RETRY_S)  # its holder may be dead, and soon found to be
            else:
                self._heard_at = time.monotonic()
                _LOG.info("agent_registered", agent=self._offer.agent_id, url=self._client.url)
                return True
        return False

    @property
    def _sign(self) -> Beat:
        return Beat(agent_id=self._offer.agent_id, incarnation=self._offer.incarnation)

    def _beat(self, is_over: threading.Event) -> None:
        while not is_over.wait(self._terms.heartbeat_s):
            try:
                answer = self._client.beat(self._sign)
                if answer is None and not self._stopping.is_set():
                    self._terms = self._client.register(self._offer)
            except (ControlPlaneAbsentError, ControlPlaneError) as error:
                self._judge_silence(error.reason)
                continue
            self._heard_at = time.monotonic()
            for key, run in self._held():
                run.assure()
                if answer is not None and key[0] in answer.stop:
                    run.stop()

    def _judge_silence(self, reason: str) -> None:
        silent_s = time.monotonic() - self._heard_at
        if silent_s < 2 * self._terms.heartbeat_s:  # once is enough
            _LOG.warning("contact_lost", reason=reason)
        if silent_s > self._terms.control_timeout_s:
            for _, run in self._held():
                run.stop(f"no contact with the control plane for {silent_s:.0f} s")

    def _follow(self) -> None:
        version = -1
        while not self._stopping.is_set():
            try:
                orders = self._client.orders(self._sign, version, HOLD_S)
            except (ControlPlaneAbsentError, ControlPlaneError):
                self._stopping.wait(_RETRY_S)
                continue
            version = orders.version
            self._apply(orders)

    def _apply(self, orders: Orders) -> None:
        wanted = {order.key: order for order in orders.tasks}
        for key, order in wanted.items():
            with self._lock:
                run = self._runs.get(key)
                if run is None:
                    run = self._runs[key] = self._make_run(order)
                    if order.stop:
                        run.stop()
                    run.start()
            if order.stop:
                run.stop()
        for key, run in self._held():
            if key not in wanted:
                self._let_go(key, run)

    def _let_go(self, key: tuple[str, int], run: TaskRun) -> None:
        run.stop()
        if run.wait(0):
            run.release()
            with self._lock:
                self._runs.pop(key, None)

    def _make_run(self, order: TaskOrder) -> TaskRun:
        folder = self._folder.tasks / f"{order.attempt_id}.node{order.node_rank}"
        _LOG.info("task_taken", attempt=order.attempt_id, node_rank=order.node_rank)
        node = Node(
            client=self._client,
            address=NodeAddress(interface=self._offer.interface, address=self._offer.address),
            cores=self._cores,
            held=self._folder.held,
            patience_s=self._terms.control_timeout_s,
        )
        return TaskRun(order, node, folder, self._teller(order))

    def _teller(self, order: TaskOrder) -> Callable[[Body], None]:
        numbers = itertools.count(1)

        def say(body: Body) -> None:
            self._spool.put(
                Report(
                    agent_id=self._offer.agent_id,
                    incarnation=self._offer.incarnation,
                    job_id=order.job_id,
                    attempt_id=order.attempt_id,
                    node_rank=order.node_rank,
                    number=next(numbers),
                    body=body,
                )
            )

        return say

    def _on_refused(self, report: Report, reason: str) -> None:
        for key, run in self._held():
            if key == (report.attempt_id, report.node_rank):
                run.stop(f"the control plane refused its report: {reason}")

    def _held(self) -> list[tuple[tuple[str, int], TaskRun]]:
        with self._lock:
            return list(self._runs.items())

    def _wind_up(self) -> None:
        deadline = time.monotonic() + STOP_S
        runs = self._held()
        for _, run in runs:
            run.stop("its agent was told to stop")
        for _, run in runs:
            run.wait(max(0.0, deadline - time.monotonic()))
        self._spool.close()
        self._spool.drain()
        for _, run in runs:
            run.release()
