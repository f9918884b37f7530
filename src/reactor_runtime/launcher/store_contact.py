"""StoreContact: whether node 0's store still answers, looked at for as long as a task runs.

A cut link shows in the ranks only when their collectives time out, and then as an error that names
nobody. Whoever has looked all along need not wait again to say who lost whom.
"""

import threading
import time

from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.meeting import Place
from reactor_runtime.launcher.rendezvous_store import StoreClient

SILENCE_S = 2.0
_LAST_LOOK_S = 0.5
_PAUSE_S = 1.0


class StoreContact:
    """One node's. Its thread is left behind where the store does not answer any more.

    Args:
        place: Who meets where.
        client: A connection that nobody else uses from now on.
    """

    def __init__(self, place: Place, client: StoreClient) -> None:
        self._place, self._client = place, client
        self._answered_at = time.monotonic()
        self._news = threading.Condition()
        self._is_wanted_at_once = threading.Event()
        self._is_over = self._is_gone = False
        if place.node_rank > 0:  # node 0 holds it
            threading.Thread(target=self._look, name="store-contact", daemon=True).start()

    def end(self) -> RankFailure | None:
        """Stop looking; return a failure that names both nodes if the store is out of reach."""
        if self._place.node_rank == 0:
            return None
        asked_at = time.monotonic()
        patience_s = max(_LAST_LOOK_S, SILENCE_S - (asked_at - self._answered_at))
        self._is_wanted_at_once.set()
        with self._news:
            self._news.wait_for(lambda: self._is_gone or self._answered_at >= asked_at, patience_s)
            silent_s = time.monotonic() - self._answered_at
            answers = self._answered_at >= asked_at
            self._is_over = True
        if answers:
            return None
        place = self._place
        words = (
            f"{place.name_of(place.node_rank)} cannot reach {place.name_of(0)} any more: "
            f"no answer for {silent_s:.1f} s"
        )
        return RankFailure(node_rank=place.node_rank, message=words)

    def _look(self) -> None:
        while not self._is_over:
            self._is_wanted_at_once.wait(_PAUSE_S)
            asked_at = time.monotonic()
            try:
                self._client.has("go")
            except Exception:  # noqa: BLE001 - torch's own kinds: whatever it is, no answer came
                self._is_gone = True
            with self._news:
                self._answered_at = self._answered_at if self._is_gone else asked_at
                self._news.notify_all()
            if self._is_gone:
                return
            if self._is_wanted_at_once.is_set():
                return
