"""Refusals in the author's words, and an exception that is nobody's business."""

from reactor_runtime import CommandError, InputField, ReactorModel, event


class RefusesCommands(ReactorModel):
    @event
    async def refuse(self, after: int = InputField(default=3, ge=1, le=5)) -> None:
        raise CommandError("too_early", f"come back in {after} days")

    @event(name="break", description="Raise something else")
    def break_it(self) -> None:
        raise KeyError("a secret detail")

    def generate(self, input: object) -> None:
        return None
