"""RankFailure and first_cause: which of many failures of one job came first. Pure.

When a rank dies, its peers report within milliseconds that a connection was closed. Those are
effects; a death by signal, an exit status or an exception of the script's own is a cause.
"""

import re
import signal
from collections.abc import Sequence
from enum import IntEnum

from pydantic import BaseModel, ConfigDict

_EFFECTS = re.compile(
    r"Connection (closed|reset) by peer|connection was (closed|reset)|Broken pipe|\bgloo/|"
    r"Gloo \w+ failed|NCCL error|Timed out waiting|Application timeout|"
    r"Connect(ion)? (refused|timed? ?out)|recvBytes failed|remote process exited",
    re.IGNORECASE,
)
# What collectives raise; an exception of any other type is the script's own, whatever it says.
_EFFECT_KINDS = re.compile(r"RuntimeError|TimeoutError|OSError|BrokenPipeError|Connection\w*Error")

# What gloo puts around what it says: where in its source, and the same advice every time.
_AROUND = re.compile(r"^\[/\S+:\d+\] |\. This is typically caused by a remote worker .*$")


class Gravity(IntEnum):
    """How near a failure is to the cause; the lowest is nearest."""

    OWN = 0  # a signal, an exit status, an exception that is not a collective's
    NODE = 1  # the node as a whole: lost, not met, not started
    COLLECTIVE = 2  # a peer went away or did not answer
    STOPPED = 3  # torchrun ended it because another had failed


class RankFailure(BaseModel):
    """One failure, as far as it is known.

    Attributes:
        node_rank: Where.
        rank: Who; ``None`` when it is the node that failed.
        exit_code: Exit status; minus the number of the signal that killed it.
        kind: Name of the exception's type, empty when there was none.
        message: What it said.
        traceback: The exception's traceback.
        at: When the rank said so, in seconds since the epoch by its node's clock; ``None`` when it
            died without a word.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    node_rank: int
    rank: int | None = None
    exit_code: int | None = None
    kind: str = ""
    message: str = ""
    traceback: str = ""
    at: float | None = None

    @property
    def gravity(self) -> Gravity:
        """How near it is to the cause."""
        if self.rank is None:
            return Gravity.NODE
        if self.exit_code == -signal.SIGTERM:
            return Gravity.STOPPED
        if self.kind.startswith("Dist"):  # torch.distributed's own
            return Gravity.COLLECTIVE
        can_be_effect = bool(_EFFECT_KINDS.fullmatch(self.kind))
        is_effect = can_be_effect and bool(_EFFECTS.search(self.message))
        return Gravity.COLLECTIVE if is_effect else Gravity.OWN

    @property
    def sentence(self) -> str:
        """What happened, in one line."""
        who = f"node {self.node_rank}"
        if self.rank is not None:
            who += f", rank {self.rank}"
        said = _AROUND.sub("", self.message.splitlines()[0]) if self.message else ""
        ended = _ending(self.exit_code)
        if self.kind and said:
            return f"{who} raised {self.kind}: {said}" + (f" ({ended})" if ended else "")
        if ended:
            return f"{who} ended with {ended}" + (f": {said}" if said else "")
        return f"{who}: {said or 'failed without a word'}"


def first_cause(failures: Sequence[RankFailure]) -> tuple[RankFailure, ...]:
    """Return *failures*, cause first: by gravity, then by time.

    A peer that ends by itself because another has gone says when; who died without a word was
    before it.
    """
    return tuple(sorted(failures, key=lambda failure: (failure.gravity, failure.at or 0.0)))


def _ending(exit_code: int | None) -> str:
    if exit_code is None:
        return ""
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"
