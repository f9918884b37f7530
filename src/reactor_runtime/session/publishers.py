"""Publishers: which client feeds which input track. One per track, first come."""

from collections.abc import Iterable

from reactor_runtime.session.client import Client


class Publishers:
    """Who feeds the input tracks of one session.

    Args:
        tracks: Names of the model's input tracks.
    """

    def __init__(self, tracks: Iterable[str]) -> None:
        self._owners: dict[str, Client | None] = dict.fromkeys(tracks)

    def has(self, track: str) -> bool:
        """Whether there is an input track of that name."""
        return track in self._owners

    def claim(self, track: str, client: Client) -> bool:
        """Give *track* to *client* unless another has it, or there is no such input."""
        if track not in self._owners or self._owners[track] not in (None, client):
            return False
        self._owners[track] = client
        return True

    def release(self, track: str, client: Client) -> None:
        """Take *track* back, if *client* has it."""
        if self._owners.get(track) is client:
            self._owners[track] = None

    def release_all(self, client: Client) -> None:
        """Take back every track that *client* has."""
        for track in self._owners:
            self.release(track, client)

    def may_feed(self, track: str, client: Client) -> bool:
        """Whether frames of *track* from *client* count.

        They do when it was granted the track. A client without a control channel cannot ask: it
        gets a free track by sending.
        """
        owner = self._owners.get(track)
        is_free = owner is None and track in self._owners
        return owner is client or (is_free and not client.connection.has_control)
