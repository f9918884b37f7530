"""Stage: a host under test and the outlet it reports to, driven as a session would drive it."""

import itertools
from dataclasses import dataclass, field
from typing import Any

from tests.contract.model_host.recording_outlet import Closed, Opened, RecordingOutlet, Shown

from reactor_runtime.host.events import (
    ClientJoined,
    ClientLeft,
    CommandCalled,
    SessionEnded,
    SessionStarted,
)
from reactor_runtime.host.host_outlet import CommandReply, OutboundMessage, StepReport
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.model.input_buffer import InputFrame


@dataclass
class Stage:
    host: ModelHost
    outlet: RecordingOutlet
    calls: Any = field(default_factory=lambda: itertools.count(1))

    def start(self, session_id: str = "s1", seed: int = 1) -> None:
        self.host.post(SessionStarted(session_id=session_id, seed=seed))

    def end(self, session_id: str = "s1", reason: str = "stopped") -> None:
        self.host.post(SessionEnded(session_id=session_id, reason=reason))

    def join(self, client_id: str = "a", joined_at: float = 1.5, **more: Any) -> None:
        self.host.post(ClientJoined(client_id=client_id, joined_at=joined_at, **more))

    def leave(self, client_id: str = "a") -> None:
        self.host.post(ClientLeft(client_id=client_id))

    def open(self, session_id: str = "s1", seed: int = 1) -> None:
        """A session with one client."""
        self.start(session_id, seed)
        self.join()

    def call(self, name: str, client_id: str = "a", **arguments: Any) -> int:
        """Post a command, validated as a session would, and return its id."""
        if name in self.host.contract.commands:
            arguments = self.host.contract.bind(name, arguments)
        call_id: int = next(self.calls)
        self.host.post(
            CommandCalled(call_id=call_id, client_id=client_id, name=name, arguments=arguments)
        )
        return call_id

    def push(self, track: str, data: Any) -> None:
        self.host.push_frame(track, InputFrame(data))

    async def ask(self, name: str, client_id: str = "a", **arguments: Any) -> CommandReply:
        """Post a command and return the answer to it."""
        return await self.reply(self.call(name, client_id, **arguments))

    async def ask_text(self, name: str, **arguments: Any) -> str:
        reply = await self.ask(name, **arguments)
        assert reply.message_body is not None, reply
        text: str = reply.message_body["text"]
        return text

    async def reply(self, call_id: int) -> CommandReply:
        found: CommandReply = await self.outlet.until(lambda: self.outlet.reply_to(call_id))
        return found

    async def noted(self, text: str, times: int = 1) -> None:
        await self.outlet.until(lambda: self.outlet.texts.count(text) >= times)

    async def opened(self, session_id: str = "s1") -> None:
        await self.outlet.until(lambda: Opened(session_id) in self.outlet.of(Opened))

    async def closed(self, session_id: str = "s1") -> None:
        await self.outlet.until(lambda: Closed(session_id) in self.outlet.of(Closed))

    async def shown(self, count: int = 1) -> list[int]:
        """The values of the first *count* pictures."""
        return [shown.value for shown in await self.outlet.next(Shown, count)]

    async def steps(self, count: int = 1) -> list[StepReport]:
        return await self.outlet.next(StepReport, count)

    @property
    def texts(self) -> list[str]:
        return self.outlet.texts

    def messages_to(self, client_id: str) -> list[str]:
        sent = self.outlet.of(OutboundMessage)
        return [m.body["text"] for m in sent if m.client_id in {None, client_id}]
