"""The agent as a process: what it offers, its signals, and its end. ``python -m … SETTINGS``."""

import os
import signal
import sys
import uuid
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from reactor_runtime.cores import usable_cores
from reactor_runtime.errors import ReactorError
from reactor_runtime.launcher.agent import Agent
from reactor_runtime.launcher.agent_folder import AgentFolder
from reactor_runtime.launcher.agent_messages import NodeOffer
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.network import choose_address, host_id
from reactor_runtime.launcher.rendezvous_store import visible_devices
from reactor_runtime.tether import adopt_orphans, die_with_parent, leave_unless_child_of


class AgentSettings(BaseModel):
    """What one agent is told.

    Attributes:
        control: URL of the control plane.
        token: What the control plane wants to see.
        procs: How many processes the node may hold.
        name: The node's name, the same after a restart; the host's unless given.
        interface: Network interface to show to peers; that of the route to *control* by default.
        advertise: Address to show to peers; the interface's by default.
        labels: What a job's labels are compared with.
        work_dir: Where tasks, logs and unsent reports are kept; below the home folder by default.
        parent_pid: The process to die with.
        cores: Processors that are the node's; all there are by default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    control: str
    token: str | None = None
    procs: int = Field(default=1, ge=1)
    name: str = Field(default_factory=lambda: os.uname().nodename)
    interface: str | None = None
    advertise: str | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    work_dir: Path | None = None
    parent_pid: int | None = None
    cores: int | None = Field(default=None, ge=1)


def run_agent(settings: AgentSettings) -> int:
    """Run an agent until SIGTERM or SIGINT.

    Raises:
        NodeNetworkError: The interface or address will not do.
        SettingError: There is no torch, or another agent has the work folder.
        ControlPlaneError: The control plane does not want this node.
    """
    if settings.parent_pid is not None:
        die_with_parent(signal.SIGKILL)
        leave_unless_child_of(settings.parent_pid)
    adopt_orphans()
    address = choose_address(settings.control, settings.interface, settings.advertise)
    devices = visible_devices()
    with AgentFolder(_work_dir(settings)) as folder:
        offer = NodeOffer(
            agent_id=settings.name,
            incarnation=uuid.uuid4().hex,
            home=folder.read_id(),
            host_id=host_id(),
            address=address.address,
            interface=address.interface,
            procs=settings.procs,
            devices=devices,
            labels=settings.labels,
        )
        client = ControlClient(settings.control, settings.token)
        agent = Agent(offer, client, folder, settings.cores or usable_cores())

        def end(*_: object) -> None:
            folder.leave()
            agent.stop()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        agent.run()
    return 0


def _work_dir(settings: AgentSettings) -> Path:
    return settings.work_dir or Path.home() / ".cache" / "reactor" / "agents" / settings.name


def main(settings: Path) -> int:
    """Run the program; a foreseen mistake is one line."""
    try:
        return run_agent(AgentSettings.model_validate_json(settings.read_text()))
    except ReactorError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
