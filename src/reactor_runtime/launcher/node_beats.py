"""NodeBeats: signs of life and the first failure, through the store that the nodes share.

beat/<r>     node r's count of its beats
failed       the first failure that any node has seen, as JSON
ended/<r>    how node r ended, as JSON
"""

import json
import time

from reactor_runtime.launcher.failures import RankFailure
from reactor_runtime.launcher.rendezvous_store import StoreClient
from reactor_runtime.launcher.scheduler_env import SchedulerPlace

HEARTBEAT_S = 1.0
LIMIT_S = 10.0
FAILED, ENDED = "failed", "ended"


class NodeBeats:
    """What this node has heard of the others, by its own monotonic clock."""

    def __init__(self, place: SchedulerPlace) -> None:
        self._place = place
        now = time.monotonic()
        self._heard = {r: ("", now) for r in range(place.num_workers) if r != place.node_rank}
        self._count = 0
        self._looked_at = now

    def exchange(self, client: StoreClient) -> list[RankFailure]:
        """Write a beat, read the others'; return what has failed, if anything has."""
        self._count += 1
        client.set(f"beat/{self._place.node_rank}", str(self._count))
        if client.has(FAILED):
            return failures_from_text(client.get(FAILED))
        now = time.monotonic()
        has_paused = now - self._looked_at > LIMIT_S / 2
        self._looked_at = now
        for rank, (known, since) in self._heard.items():
            beat = client.get(f"beat/{rank}") if client.has(f"beat/{rank}") else ""
            if beat != known or has_paused or client.has(f"{ENDED}/{rank}"):
                self._heard[rank] = (beat, now)
            elif now - since > LIMIT_S:
                failure = RankFailure(
                    node_rank=rank, message=f"lost: no heartbeat for {LIMIT_S:g} s"
                )
                client.set(FAILED, failures_to_text([failure]))
                return [failure]
        return []


def failures_to_text(failures: list[RankFailure]) -> str:
    """Return *failures* as JSON, for the store."""
    return json.dumps([failure.model_dump() for failure in failures])


def failures_from_text(text: str) -> list[RankFailure]:
    """Return what ``failures_to_text`` was given."""
    return [RankFailure.model_validate(tree) for tree in json.loads(text)]
