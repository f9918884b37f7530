"""MediaResource: one WHIP or WHEP connection, as its HTTP resource knows it."""

import secrets

from reactor_runtime.errors import IceRestartError, NegotiationError
from reactor_runtime.webrtc.peer import Peer
from reactor_runtime.webrtc.staged_answer import StagedAnswer
from reactor_runtime.webrtc.trickle_fragment import parse_fragment


class MediaResource:
    """Answers once, takes candidates, and ends the connection.

    Attributes:
        name: What its URL ends with: a secret of 128 random bits.
        etag: Names its one ICE session, as an HTTP entity tag.
    """

    def __init__(self, peer: Peer, answer: StagedAnswer) -> None:
        self._peer, self._answer = peer, answer
        self.name = secrets.token_urlsafe(16)
        self.etag = f'"{secrets.token_urlsafe(8)}"'

    @property
    def is_over(self) -> bool:
        """Whether the connection is gone, whoever ended it."""
        return self._peer.link.lost.is_set()

    async def answer(self, wait_s: float) -> str:
        """Return the SDP answer, complete with every candidate, within *wait_s* seconds.

        Raises:
            NegotiationError: There is none.
        """
        sdp = await self._answer.take(wait_s)
        if sdp is None:
            raise NegotiationError(self._peer.connection_id, f"no answer within {wait_s:g} s")
        return sdp

    async def trickle(self, fragment: str) -> None:
        """Take further candidates of the client.

        Raises:
            FragmentError: It is no SDP fragment.
            IceRestartError: It has other ICE credentials than the offer.
        """
        read = parse_fragment(fragment)
        if read.ufrags - {self._peer.link.remote_ufrag}:
            raise IceRestartError
        await self._peer.link.add_candidates(read.candidates)

    async def close(self) -> None:
        """End the connection, within a bound. Idempotent."""
        await self._peer.close("the client deleted it")
