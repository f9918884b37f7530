"""What passes between an agent and the control plane, as JSON; grouped by direction."""

import ipaddress
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.failures import RankFailure


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class AgentStart(NamedTuple):
    """One start of an agent: its name, and an id that no other start has."""

    agent_id: str
    incarnation: str


def _is_literal(address: str) -> str:
    ipaddress.ip_address(address)
    return address


# From the agent.


class NodeOffer(_Message):
    """What one agent brings.

    Attributes:
        agent_id: Its name, the same after a restart.
        incarnation: A fresh id for every start of the agent's process.
        home: Id of its work folder, if it has one: what earlier agents have started there is gone.
        host_id: Shared by agents that share a loopback interface.
        procs: How many processes it may hold at a time.
        devices: Ids of its CUDA devices, which another agent of the same host may have too.
    """

    agent_id: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$")
    incarnation: str = Field(min_length=1, max_length=64)
    home: str = Field(default="", max_length=64)
    host_id: str = Field(max_length=256)
    address: Annotated[str, AfterValidator(_is_literal)] = Field(max_length=64)
    interface: str = Field(max_length=64)
    procs: int = Field(ge=1, le=4096)
    devices: tuple[str, ...] = Field(default=(), max_length=1024)
    labels: dict[str, str] = Field(default_factory=dict)

    @property
    def start(self) -> AgentStart:
        """Which start of which agent offers it."""
        return AgentStart(self.agent_id, self.incarnation)


class Beat(_Message):
    """A sign of life.

    Attributes:
        is_last: The agent ends by itself.
    """

    agent_id: str
    incarnation: str
    is_last: bool = False

    @property
    def start(self) -> AgentStart:
        """Which start of which agent gives it."""
        return AgentStart(self.agent_id, self.incarnation)


class Outcome(StrEnum):
    """How a task or a job ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Published(_Message):
    """Node 0 holds its store at *endpoint*."""

    kind: Literal["published"] = "published"
    endpoint: str = Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[0-9.]+):\d{1,5}$")


class Started(_Message):
    """torchrun runs."""

    kind: Literal["started"] = "started"


class Ended(_Message):
    """No process of the task is left."""

    kind: Literal["ended"] = "ended"
    outcome: Outcome
    failures: tuple[RankFailure, ...] = ()


class Delivered(_Message):
    """Every log line and output of the task has been taken; nothing more will come.

    Attributes:
        notes: What could not be taken, and why.
        unmatched: The globs of outputs that no file here matches.
    """

    kind: Literal["delivered"] = "delivered"
    notes: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


class Report(_Message):
    """One thing that happened to a task; numbered from 1 within it, and sent until it is taken."""

    agent_id: str
    incarnation: str
    job_id: str
    attempt_id: str
    node_rank: int = Field(ge=0)
    number: int = Field(ge=1)
    body: Annotated[Published | Started | Ended | Delivered, Field(discriminator="kind")]

    @property
    def start(self) -> AgentStart:
        """Which start of which agent brings it."""
        return AgentStart(self.agent_id, self.incarnation)


# From the control plane.


class TaskOrder(_Message):
    """One node's task, for as long as its attempt is not over.

    Attributes:
        endpoint: Where node 0 holds the store; known to every node but node 0 from the start.
        stop: The job has failed or was cancelled; what runs of it must end.
        source: SHA-256 of the source archive.
        peers: Addresses of the nodes, by node rank.
    """

    job_id: str
    attempt_id: str
    node_rank: int
    job: DistributedJob
    source: str
    peers: tuple[str, ...]
    endpoint: str | None = None
    stop: bool = False

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from every other task."""
        return self.attempt_id, self.node_rank


class Orders(_Message):
    """Everything one agent should hold; what is not in here any more is over."""

    version: int
    tasks: tuple[TaskOrder, ...] = ()


class BeatAnswer(_Message):
    """What a sign of life is answered with: the attempts that must stop."""

    stop: tuple[str, ...] = ()


class Terms(_Message):
    """What the control plane expects of its agents."""

    heartbeat_s: float
    control_timeout_s: float


# From and to people.


class Submission(_Message):
    """A job and the archive of its source, which must have been sent before."""

    job: DistributedJob
    source: str = Field(pattern=r"^[0-9a-f]{64}$")
