"""OfflineSeat: the seat of a rank that nobody calls: it answers itself, with the other ranks."""

from collections.abc import Callable

from reactor_runtime.errors import OfflineRunError
from reactor_runtime.host.rank_messages import Agreed, InputGiven, WantsAgreement, WantsInput
from reactor_runtime.offline.peers import PartKeeper, Peers
from reactor_runtime.world import World


class OfflineSeat:
    """Implements ``RankSeat``.

    Args:
        world: This rank's place.
        peers: The other ranks.
        hear: Gets what the leader says beside its answers.
        pass_time: Lets seconds of the film pass in which nothing is shown.
    """

    def __init__(
        self,
        world: World,
        peers: Peers,
        hear: Callable[[object], None],
        pass_time: Callable[[float], None],
    ) -> None:
        self.world = world
        self.frames = PartKeeper()
        self._peers, self._hear, self._pass_time = peers, hear, pass_time

    def post(self, payload: object) -> None:
        """Pass on what the leader says."""
        self._hear(payload)

    def try_to_carry(self, value: object) -> None:
        """Do nothing: what a rank emits is shown in its own process."""

    def suspend(self, payload: object) -> Agreed | InputGiven:
        """Answer what the model waits for.

        Raises:
            OfflineRunError: It waits for what only a client could send.
        """
        if isinstance(payload, WantsAgreement):
            refusals = [each for each in self._peers.gather(payload.refusal) if each is not None]
            return Agreed(refusals[0] if refusals else None)
        assert isinstance(payload, WantsInput)
        if not payload.timers:
            raise OfflineRunError(None, "the model waits for input, and there is no client")
        number, seconds = min(payload.timers, key=lambda timer: timer[1])
        self._pass_time(seconds)
        return InputGiven(expired=(number,))
