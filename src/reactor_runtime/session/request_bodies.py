"""What a start and a stop may ask for: the JSON bodies, checked. Unknown keys are ignored."""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from reactor_runtime.errors import StartRefusedError
from reactor_runtime.mistake import first_mistake

STREAMED = "streamed"
MOST_STEPS = 10_000
_RECORDED_CHARS, _KEY_CHARS = 4096, 256


def _whole(value: Any) -> Any:
    """Return an integral double as an integer: some clients have no other numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_Seed = Annotated[int, BeforeValidator(_whole), Field(ge=0, lt=2**63)]
_Steps = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=MOST_STEPS)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class StartingCommand(_Body):
    """One command of a starting input. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")

    command: str
    data: dict[str, Any] = Field(default_factory=dict)


class StartingInputBody(_Body):
    """What is applied before any client is there. Unknown keys are refused.

    Attributes:
        state: Field to value; each is applied as its ``set_<field>`` command.
        commands: Called after that, in their order.
    """

    model_config = ConfigDict(extra="forbid")

    state: dict[str, Any] = Field(default_factory=dict)
    commands: Annotated[list[StartingCommand], Field(max_length=1000)] = Field(default_factory=list)


class ExtraArgs(_Body):
    """What a caller of an SDK may add to a start."""

    seed: _Seed | None = None


class StartBody(_Body):
    """The body of a start.

    Attributes:
        session_id: The caller's own id, for logs and recordings; never the transport's.
        generation: Only ``streamed`` is served.
        seed: Seeds every random generator of the session; drawn when absent.
        steps: The session ends after that many steps.
        starting_input: What is applied before any client is there.
        extra_args: May hold the seed, too.
    """

    session_id: Annotated[str, Field(max_length=256)] | None = None
    generation: str = STREAMED
    seed: _Seed | None = None
    steps: _Steps | None = None
    starting_input: StartingInputBody | None = None
    extra_args: ExtraArgs | None = None

    @property
    def chosen_seed(self) -> int | None:
        """The seed, wherever it stands."""
        extra = None if self.extra_args is None else self.extra_args.seed
        return extra if self.seed is None else self.seed

    def for_record(self) -> dict[str, Any]:
        """Return what was asked for, a starting input only while it is short."""
        asked = self.model_dump(exclude_unset=True, mode="json")
        if len(json.dumps(asked.get("starting_input"))) > _RECORDED_CHARS:
            del asked["starting_input"]
        return asked


class StopBody(_Body):
    """The body of a stop.

    Attributes:
        moderate: Clients are told it was moderation.
        reason: What clients are told, at most 64 characters.
    """

    moderate: bool = False
    reason: Annotated[str, Field(max_length=64)] = ""


def read_start_body(body: Mapping[str, Any]) -> StartBody:
    """Return *body* checked.

    Raises:
        StartRefusedError: A key has a wrong value, or asks for something not served.
    """
    try:
        start = StartBody.model_validate(dict(body))
    except ValidationError as error:
        mistake = first_mistake(error, StartBody)
        raise StartRefusedError(mistake.key[:_KEY_CHARS] or None, str(mistake)) from None
    if start.generation != STREAMED:
        wanted = "stepped sessions are not served; use 'streamed'"
        raise StartRefusedError("generation", wanted)
    if start.extra_args is not None and start.extra_args.seed not in (None, start.chosen_seed):
        raise StartRefusedError("seed", "differs from extra_args.seed; leave one of them out")
    return start
