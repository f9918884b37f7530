"""Publishers: which client feeds which input track. One per track, first come."""

from collections.abc import Iterable
from dataclasses import dataclass

from reactor_runtime.clock import Clock
from reactor_runtime.session.client import Client


@dataclass(slots=True)
class _Claim:
    client: Client
    last_fed_at: float


class Publishers:
    """Who feeds the input tracks of one session.

    A client without a control channel can neither ask for a track nor give it back: it gets a free
    one by sending, and has lost it once it has sent nothing for a while.

    Args:
        tracks: Names of the model's input tracks.
        clock: The time.
        lapse_s: How long that while is.
    """

    def __init__(self, tracks: Iterable[str], clock: Clock, lapse_s: float) -> None:
        self._claims: dict[str, _Claim | None] = dict.fromkeys(tracks)
        self._clock, self._lapse_s = clock, lapse_s

    def has(self, track: str) -> bool:
        """Whether there is an input track of that name."""
        return track in self._claims

    def is_taken(self, track: str) -> bool:
        """Whether somebody was granted *track*, or feeds it now."""
        return self._owner(track) is not None

    def claim(self, track: str, client: Client) -> bool:
        """Give *track* to *client* unless another has it, or there is no such input."""
        if track not in self._claims or self._owner(track) not in (None, client):
            return False
        self._claims[track] = _Claim(client, self._clock.now())
        return True

    def release(self, track: str, client: Client) -> None:
        """Take *track* back, if *client* has it."""
        if self._owner(track) is client:
            self._claims[track] = None

    def release_all(self, client: Client) -> None:
        """Take back every track that *client* has."""
        for track in self._claims:
            self.release(track, client)

    def may_feed(self, track: str, client: Client) -> bool:
        """Whether frames of *track* from *client* count.

        They do when it was granted the track, or can ask for none and the track is free.
        """
        owner = self._owner(track)
        is_free = owner is None and track in self._claims
        return owner is client or (is_free and not client.connection.has_control)

    def _owner(self, track: str) -> Client | None:
        claim = self._claims.get(track)
        if claim is None:
            return None
        is_asked_for = claim.client.connection.has_control
        if not is_asked_for and self._clock.now() - claim.last_fed_at > self._lapse_s:
            return None
        return claim.client
