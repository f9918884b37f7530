"""What keeps a distributed job from being accepted, started or finished."""

from reactor_runtime.errors.configuration import ConfigFileError, ConfigurationError
from reactor_runtime.errors.reactor_error import ReactorError


class JobSpecError(ConfigFileError):
    """Raised when a job file cannot be used; nothing was started."""


class NodeNetworkError(ConfigurationError):
    """Raised when a node cannot be reached by others in the way it was told to.

    Attributes:
        interface: The interface or address that was asked for.
        reason: Why it will not do, and what to give instead.
    """

    def __init__(self, interface: str, reason: str) -> None:
        super().__init__(interface, reason)
        self.interface, self.reason = interface, reason

    def __str__(self) -> str:
        return f"interface {self.interface}: {self.reason}"


class RendezvousError(ReactorError):
    """Raised when the nodes of a job do not all meet in time.

    Attributes:
        node_rank: The node that says so.
        reason: Who cannot reach whom, or who did not come.
    """

    def __init__(self, node_rank: int, reason: str) -> None:
        super().__init__(node_rank, reason)
        self.node_rank, self.reason = node_rank, reason

    def __str__(self) -> str:
        return self.reason


class AgentLostError(ReactorError):
    """Raised when an agent that a launch has started ends before its job has its nodes.

    Attributes:
        agent: Its name.
        reason: Its last words.
    """

    def __init__(self, agent: str, reason: str) -> None:
        super().__init__(agent, reason)
        self.agent, self.reason = agent, reason

    def __str__(self) -> str:
        return f"the node {self.agent} could not be started: {self.reason}"


class AgentNameTakenError(ReactorError):
    """Raised when an agent offers itself under the name of another one that is alive.

    Attributes:
        agent: The name.
        address: Where its holder is.
    """

    def __init__(self, agent: str, address: str) -> None:
        super().__init__(agent, address)
        self.agent, self.address = agent, address

    def __str__(self) -> str:
        return (
            f"an agent named {self.agent} is alive at {self.address}; "
            "start this one with another --name"
        )


class PlacementError(ReactorError):
    """Raised when a cluster does not give a job its nodes in time.

    Attributes:
        wanted: What was asked for.
        patience_s: Seconds it had.
        found: What it has.
    """

    def __init__(self, wanted: str, patience_s: float, found: str) -> None:
        super().__init__(wanted, patience_s, found)
        self.wanted, self.patience_s, self.found = wanted, patience_s, found

    def __str__(self) -> str:
        return (
            f"the cluster did not give {self.wanted} within {self.patience_s:g} s; "
            f"its nodes, used and free: {self.found or 'none'}"
        )


class ControlPlaneError(ReactorError):
    """Raised when the control plane refuses a request; asking again changes nothing.

    Attributes:
        status: HTTP status.
        reason: What it said.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(status, reason)
        self.status, self.reason = status, reason

    def __str__(self) -> str:
        return f"the control plane refused: {self.reason} (status {self.status})"


class ControlPlaneAbsentError(ReactorError):
    """Raised when the control plane cannot be reached; asking again later may help.

    Attributes:
        url: Where it should be.
        reason: What happened instead.
    """

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, reason)
        self.url, self.reason = url, reason

    def __str__(self) -> str:
        return f"no control plane at {self.url}: {self.reason}"


class JobConflictError(ReactorError):
    """Raised when a report contradicts what the control plane knows.

    Attributes:
        job_id: The job.
        reason: What contradicts what.
    """

    def __init__(self, job_id: str, reason: str) -> None:
        super().__init__(job_id, reason)
        self.job_id, self.reason = job_id, reason

    def __str__(self) -> str:
        return f"job {self.job_id}: {self.reason}"


class UnknownJobError(ReactorError):
    """Raised for a job that this control plane has never seen.

    Attributes:
        job_id: What was asked for.
    """

    def __init__(self, job_id: str) -> None:
        super().__init__(job_id)
        self.job_id = job_id

    def __str__(self) -> str:
        return f"there is no job {self.job_id}; `reactor jobs list` shows those there are"


class SourceError(ReactorError):
    """Raised when a source folder or its archive cannot be packed, sent or unpacked.

    Attributes:
        place: The folder, archive or member.
        reason: What is wrong with it.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(place, reason)
        self.place, self.reason = place, reason

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"
