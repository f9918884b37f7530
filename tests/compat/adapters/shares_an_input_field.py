"""One ``InputField`` for two parameters of one command, for another command and for the state."""

from reactor_runtime import ClientInfo, InputField, InputState, ModelMessage, ReactorModel, event

SHARE = InputField(default=0.5, ge=0.0, le=1.0, description="A share of the whole")


class ShareState(InputState):
    share: float = SHARE


class Sum(ModelMessage):
    total: float


class SharesAnInputField(ReactorModel):
    state: ShareState

    @event
    async def add(self, left: float = SHARE, right: float = SHARE) -> Sum:
        return Sum(total=left + right)

    @event
    async def half(self, of: float = SHARE) -> Sum:
        return Sum(total=of / 2)

    @event
    def keep(self, share: float = SHARE, client: ClientInfo | None = None) -> None:
        self.kept = share

    def generate(self, input: object) -> None:
        return None
