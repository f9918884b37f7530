"""ClientInfo: who called a command, joined or left, and the way to answer only them."""

from dataclasses import dataclass, field

from reactor_runtime.model.messages import ModelMessage
from reactor_runtime.model.outlet import Outlet, SilentOutlet


@dataclass(frozen=True)
class ClientInfo:
    """One client of the session.

    Attributes:
        id: Unique per client and session.
        joined_at: Epoch seconds, stamped once by the host.
    """

    id: str
    joined_at: float = 0.0
    _reactor_outlet: Outlet = field(default_factory=SilentOutlet, repr=False, compare=False)

    async def send(self, message: ModelMessage) -> None:
        """Send *message* to this client alone; nothing happens on an instance nobody serves.

        Raises:
            MessageTooLargeError: It is larger than the client takes: 262,144 bytes, or less.
        """
        self._reactor_outlet.send(message, self.id)
