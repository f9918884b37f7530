"""meet: every node of an attempt reaches the store and says so before torchrun starts anywhere.

Order: each node writes and reads a key of its own (a bare connection would pass against a silent
listener), then ``ready/<r>``; node 0, having seen all of these, writes ``go``.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event

from reactor_runtime.errors import RendezvousError
from reactor_runtime.launcher.rendezvous_store import StoreClient, within

REACH_S = 15.0
_PAUSE_S = 0.02
_NOTHING = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Who meets where.

    Attributes:
        addresses: Addresses of the nodes by rank, for messages; may be empty.
        join_timeout_s: Seconds for the whole.
    """

    endpoint: str
    attempt_id: str
    node_rank: int
    num_workers: int
    join_timeout_s: float
    addresses: tuple[str, ...] = ()

    def name_of(self, node_rank: int) -> str:
        """Return a node's rank and address in words."""
        known = node_rank < len(self.addresses)
        return f"node {node_rank}" + (f" ({self.addresses[node_rank]})" if known else "")


def meet(place: Place, stop: Event, word: str | None = None) -> tuple[StoreClient, str | None]:
    """Meet the other nodes.

    Args:
        place: Who meets where.
        stop: Ends the waiting.
        word: What node 0 tells all others with its ``go``.

    Returns:
        The connection to the store, and node 0's word.

    Raises:
        RendezvousError: Somebody cannot reach the store or has not come; the text says who.
    """
    deadline = time.monotonic() + place.join_timeout_s
    client = within(
        min(REACH_S, place.join_timeout_s / 2),  # who cannot reach says so before it is missed
        lambda: _reach(place),
        f"{place.name_of(place.node_rank)} cannot reach the store of {place.name_of(0)} at "
        f"{place.endpoint}",
        place.node_rank,
    )
    wait = _wait_for_all if place.node_rank == 0 else _wait_for_go
    said = within(
        place.join_timeout_s + REACH_S,
        lambda: wait(place, client, Waiting(deadline, stop), word or _NOTHING),
        f"{place.name_of(place.node_rank)} lost the store at {place.endpoint}",
        place.node_rank,
    )
    return client, None if said == _NOTHING else said


class Waiting:
    """How long one may wait, and what ends it early."""

    def __init__(self, deadline: float, stop: Event) -> None:
        self._deadline, self._stop = deadline, stop

    def until(self, holds: Callable[[], bool]) -> bool:
        """Return whether *holds* became true in time."""
        while not holds():
            if time.monotonic() > self._deadline or self._stop.wait(_PAUSE_S):
                return False
        return True


def _reach(place: Place) -> StoreClient:
    client = StoreClient(place.endpoint, place.attempt_id, place.join_timeout_s)
    key = f"reach/{place.node_rank}"
    client.set(key, place.attempt_id)
    if client.get(key) != place.attempt_id:
        raise RendezvousError(place.node_rank, "it gave back something else than was written")
    client.set(f"ready/{place.node_rank}", place.attempt_id)
    return client


def _wait_for_all(place: Place, client: StoreClient, waiting: Waiting, word: str) -> str:
    absent = set(range(place.num_workers))

    def all_are_here() -> bool:
        absent.difference_update([r for r in absent if client.has(f"ready/{r}")])
        return not absent

    if not waiting.until(all_are_here):
        names = ", ".join(place.name_of(rank) for rank in sorted(absent))
        raise RendezvousError(0, f"{names} did not join within {place.join_timeout_s:g} s")
    client.set("go", word)
    return word


def _wait_for_go(place: Place, client: StoreClient, waiting: Waiting, word: str) -> str:
    if not waiting.until(lambda: client.has("go")):
        reason = f"{place.name_of(0)} gave no go within {place.join_timeout_s:g} s"
        raise RendezvousError(place.node_rank, f"{reason}: not every node has joined")
    return client.get("go")
