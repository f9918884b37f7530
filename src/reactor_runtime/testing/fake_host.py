"""FakeHost: a model host that does what a test says, and nothing else."""

from collections.abc import Mapping
from typing import Any

from reactor_runtime.errors import HostClosedError, ModelLoadError
from reactor_runtime.host.events import (
    CommandCalled,
    ModelEvent,
    SessionEnded,
    SessionStarted,
)
from reactor_runtime.host.host_outlet import (
    CommandReply,
    FailureKind,
    HostFailure,
    HostOutlet,
    OutboundMessage,
)
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.input_buffer import InputFrame


class FakeHost(ModelHost):
    """Implements ``ModelHost`` without a model: it has the contract of one and runs nothing.

    Sessions open and close as they are told; commands stay pending until ``reply``.

    Args:
        model: The class whose contract it has.
        outlet: What it reports to.

    Attributes:
        posted: Every event, in order.
        frames: Every inbound frame, with its track.
        pending: Commands that can still be withdrawn, by call id.
        session_id: Of the session it was last told of.
        is_prompt: Whether it opens and closes sessions at once.
        is_closed: Whether it was stopped.
        load_error: What loading raises, if anything.
        start_error: How ``session_started`` fails, empty when it does not.
    """

    def __init__(self, model: type, outlet: HostOutlet) -> None:
        self.posted: list[ModelEvent] = []
        self.frames: list[tuple[str, InputFrame]] = []
        self.pending: dict[int, CommandCalled] = {}
        self.is_prompt, self.is_closed = True, False
        self.load_error: ModelLoadError | None = None
        self.start_error, self.session_id = "", ""
        self._contract = ModelContract.of(model)
        self._outlet = outlet

    # --- what the session asks for ---

    @property
    def contract(self) -> ModelContract:
        """What the model's class declares."""
        return self._contract

    async def start(self) -> None:
        """Load nothing."""
        if self.load_error is not None:
            raise self.load_error

    def post(self, event: ModelEvent) -> None:
        """Keep *event*, and open or close the session it is about."""
        if self.is_closed:
            raise HostClosedError
        self.posted.append(event)
        match event:
            case CommandCalled():
                self.pending[event.call_id] = event
            case SessionStarted():
                self.session_id = event.session_id
                if self.start_error:
                    self.fail(FailureKind.SESSION_START, self.start_error)
                elif self.is_prompt:
                    self._outlet.session_opened(event.session_id)
            case SessionEnded():
                self.pending.clear()
                if self.is_prompt:
                    self._outlet.session_closed(event.session_id)

    def withdraw(self, call_id: int) -> bool:
        """Take back a command that has not begun."""
        return self.pending.pop(call_id, None) is not None

    def push_frame(self, track: str, frame: InputFrame) -> None:
        """Keep one inbound frame."""
        self.frames.append((track, frame))

    def stacks(self) -> Mapping[str, str]:
        """Return nothing: nothing runs."""
        return {}

    async def stop(self) -> None:
        """Take no more events."""
        self.is_closed = True

    # --- what the model does ---

    def calls(self) -> list[CommandCalled]:
        """Return every command that was posted, withdrawn ones included."""
        return [event for event in self.posted if isinstance(event, CommandCalled)]

    def begin(self, call: CommandCalled) -> None:
        """Run a command: from here it cannot be withdrawn."""
        self.pending.pop(call.call_id, None)

    def reply(
        self,
        call: CommandCalled,
        name: str | None = None,
        body: Mapping[str, Any] | None = None,
        *,
        code: str | None = None,
        text: str = "",
    ) -> None:
        """Answer a command: with a message, with an error *code*, or with neither."""
        self.begin(call)
        self._outlet.reply(
            CommandReply(
                call_id=call.call_id,
                client_id=call.client_id,
                message_name=name,
                message_body=body,
                error_code=code,
                error_message=text,
            )
        )

    def send(self, name: str, body: Mapping[str, Any], client_id: str | None = None) -> None:
        """Send a message, to everyone unless *client_id* names one."""
        self._outlet.message(OutboundMessage(name=name, body=body, client_id=client_id))

    def fail(
        self,
        kind: FailureKind = FailureKind.STEP,
        message: str = "ValueError",
        *,
        fatal: bool = False,
        cause: str = "",
    ) -> None:
        """Break, as the running session."""
        self._outlet.failed(
            HostFailure(
                kind=kind, session_id=self.session_id, message=message, fatal=fatal, cause=cause
            )
        )

    def open_session(self) -> None:
        """Report that ``session_started`` has run."""
        self._outlet.session_opened(self.session_id)

    def close_session(self) -> None:
        """Report that ``session_ended`` has run."""
        self._outlet.session_closed(self.session_id)
