"""Who asks: injected with and without a default, greeted when connected, answered alone."""

from reactor_runtime import ClientInfo, ModelMessage, ReactorModel, connected, disconnected, event


class Hello(ModelMessage):
    you: str
    guests: int


class Whisper(ModelMessage):
    to: str
    is_known: bool


class KnowsItsClients(ReactorModel):
    guests = 0

    @connected
    async def greet(self, client: ClientInfo) -> None:
        self.guests += 1
        assert client.joined_at > 0
        await client.send(Hello(you=client.id, guests=self.guests))

    @disconnected
    async def count(self) -> None:
        self.guests -= 1
        await self.send(Hello(you="", guests=self.guests))

    @event
    async def whisper(self, client: ClientInfo) -> None:
        await client.send(Whisper(to=client.id, is_known=True))

    @event
    async def shout(self, word: str = "hey", client: ClientInfo | None = None) -> None:
        await self.send(Whisper(to=word, is_known=client is not None))

    def generate(self, input: object) -> None:
        return None
