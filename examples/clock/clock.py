"""An analog clock: a hand-written ``run()`` that takes turns, emits and sends."""

import time

from face import Face

from reactor_runtime import (
    InputField,
    InputState,
    MessageField,
    ModelMessage,
    Output,
    ReactorModel,
    Video,
    event,
)

SIDE, FPS = 480, 25
DAY_S = 86_400


class ClockState(InputState):
    """What a viewer sets."""

    offset_hours: float = InputField(default=0, ge=-12, le=14, description="Hours from UTC.")
    sweep: bool = InputField(default=True, description="Let the second hand glide.")


class Alarm(ModelMessage):
    """Told to everybody when an alarm rings."""

    label: str = MessageField(description="What it was set for.")


class Picture(Output):
    """The clock."""

    main_video: Video


class Clock(ReactorModel):
    """Shows the time and rings alarms."""

    state: ClockState

    def load(self, config_path: object) -> None:
        """Draw the dial once."""
        self.face = Face(SIDE)
        self.alarms: list[tuple[float, str]] = []

    @event(name="set_alarm", description="Ring after some seconds.")
    def set_alarm(
        self,
        seconds: float = InputField(default=5, ge=0, le=3600, description="From now."),
        label: str = InputField(default="time is up", max_length=60),
    ) -> None:
        """Remember when to ring."""
        self.alarms.append((time.monotonic() + seconds, label))

    async def run(self) -> None:
        """Show a picture each turn, at a rate set here rather than on the class."""
        self.output.fps = FPS
        async for _ in self.turns():
            await self._ring()
            now = (time.time() + 3600 * self.state.offset_hours) % DAY_S
            await self.emit(Picture(main_video=self.face.draw(now, sweep=self.state.sweep)))

    async def _ring(self) -> None:
        due = [a for a in self.alarms if a[0] <= time.monotonic()]
        for alarm in due:
            self.alarms.remove(alarm)
            await self.send(Alarm(label=alarm[1]))
