"""InProcessHost: a world of one, on a thread of its own with an asyncio loop of its own."""

from pathlib import Path

from reactor_runtime.clock import Clock, SystemClock
from reactor_runtime.host.events import ModelEvent
from reactor_runtime.host.host_outlet import HostOutlet
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.world import World


class InProcessHost(ModelHost):
    """Runs the model in this process."""

    def __init__(
        self,
        model_class: type[ReactorModel],
        *,
        outlet: HostOutlet,
        world: World = World(),  # noqa: B008 - a frozen value
        config_path: Path | None = None,
        clock: Clock = SystemClock(),  # noqa: B008 - stateless
        settings: HostSettings = HostSettings(),  # noqa: B008 - a frozen value
    ) -> None:
        raise NotImplementedError

    @property
    def contract(self) -> ModelContract:
        raise NotImplementedError

    async def start(self) -> None:
        raise NotImplementedError

    def post(self, event: ModelEvent) -> None:
        raise NotImplementedError

    def withdraw(self, call_id: int) -> bool:
        raise NotImplementedError

    def push_frame(self, track: str, frame: InputFrame) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        raise NotImplementedError
