"""Notes every hook and command as a message; has a command for every kind of answer."""

import asyncio

from tests.models.parts import Note, Picture, flat

from reactor_runtime import (
    ClientInfo,
    CommandError,
    InputField,
    InputState,
    ReactorModel,
    UploadedFile,
    connected,
    disconnected,
    event,
    file_uploaded,
    session_ended,
    session_started,
)


class NotesState(InputState):
    level: int = InputField(default=7, ge=0, le=255)
    _visits: int = 0


class NotesEverything(ReactorModel):
    state: NotesState

    @session_started
    async def begin(self) -> None:
        await self.send(Note(text=f"started {self.state.level}"))

    @session_ended
    async def end(self) -> None:
        await self.send(Note(text=f"ended {self.state.level}"))

    @connected
    async def came(self, client: ClientInfo) -> None:
        self.state._visits += 1
        await self.send(Note(text=f"came {client.id} visit {self.state._visits}"))
        await client.send(Note(text=f"welcome {client.id}"))

    @disconnected
    async def left(self, client: ClientInfo) -> None:
        await self.send(Note(text=f"left {client.id}"))

    @file_uploaded
    async def arrived(self, client: ClientInfo, file: UploadedFile) -> None:
        await self.send(Note(text=f"file {file.name} {file.size} of {client.id}"))

    @event
    async def note(self, text: str) -> None:
        await self.send(Note(text=text))

    @event
    async def slow_note(self, text: str) -> None:
        await self.send(Note(text=f"begin {text}"))
        for _ in range(5):
            await asyncio.sleep(0.001)
        await self.send(Note(text=f"end {text}"))

    @event
    def echo(self, text: str) -> Note:
        return Note(text=text)

    @event
    def who(self, client: ClientInfo) -> Note:
        return Note(text=client.id)

    @event
    def level_now(self) -> Note:
        return Note(text=str(self.state.level))

    @event
    def returns_a_dict(self) -> Note:
        return {"not": "a message"}  # type: ignore[return-value]

    @event
    def returns_a_number(self) -> int:
        return 1

    @event
    def refuse(self) -> None:
        raise CommandError("too_early", "come back later")

    @event
    def fail(self) -> None:
        raise ValueError("a secret detail")

    @event
    def leave_the_process(self) -> None:
        raise SystemExit(3)

    @event
    async def cancel_itself(self) -> None:
        raise asyncio.CancelledError

    @event
    async def whisper(self, text: str, client: ClientInfo) -> None:
        await client.send(Note(text=text))

    def generate(self, state: NotesState) -> Picture:
        return Picture(main_video=flat(state.level))
