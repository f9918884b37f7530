"""Private fields, an own command in place of a setter, attributes by name, a whole new state."""

from reactor_runtime import InputField, InputState, ModelMessage, ReactorModel, event


class RichState(InputState):
    prompt: str = InputField(default="a cat", max_length=40, description="What to paint")
    strength: float = InputField(default=0.5, ge=0, le=1)
    mode: str = InputField(default="day", choices=("day", "night"))
    _steps: int = 0
    _cache: object = None


class Shown(ModelMessage):
    prompt: str
    strength: float
    mode: str
    steps: int


class KeepsPrivateState(ReactorModel):
    state: RichState

    @event(name="set_mode")
    def change_mode(self, mode: str) -> Shown:
        self.state.mode = mode.upper()  # not one a client may set
        return self.show()

    @event
    def poke(self, name: str, value: float) -> Shown:
        setattr(self.state, name, value)
        self.state._steps += 1
        self.state._cache = object()
        assert getattr(self.state, name) == value
        return self.show()

    @event
    def renew(self) -> Shown:
        self.state = RichState()
        self.state.prompt = "a dog"
        return self.show()

    @event
    def show(self) -> Shown:
        limits = RichState._public_fields["strength"]
        assert (limits.ge, limits.le, limits.default) == (0, 1, 0.5)
        assert set(RichState._public_fields) == {"prompt", "strength", "mode"}
        s = self.state
        return Shown(prompt=s.prompt, strength=s.strength, mode=s.mode, steps=s._steps)

    def generate(self, input: object) -> None:
        return None
