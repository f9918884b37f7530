"""A message class that is called as the runtime's own exception is."""

import reactor_runtime
from reactor_runtime import ModelMessage, ReactorModel, event


class CommandError(ModelMessage):
    command: str
    reason: str


class NamesAMessageCommandError(ReactorModel):
    @event
    def ask(self, politely: bool) -> CommandError:
        if not politely:
            raise reactor_runtime.CommandError("rude", "say please")
        return CommandError(command="ask", reason="none")

    @event
    async def tell(self) -> None:
        await self.send(CommandError(command="tell", reason="for everybody"))

    def generate(self, input: object) -> None:
        return None
