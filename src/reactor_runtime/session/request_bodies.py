"""What a start and a stop may ask for: the JSON bodies, checked. Unknown keys are ignored."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reactor_runtime.errors import StartRefusedError

STREAMED = "streamed"


class StartBody(BaseModel):
    """The body of a start.

    Attributes:
        session_id: The caller's own id, for logs and recordings; never the transport's.
        generation: Only ``streamed`` is served.
        seed: Seeds every random generator of the session; drawn when absent.
    """

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

    session_id: Annotated[str, Field(max_length=256)] | None = None
    generation: str = STREAMED
    seed: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    steps: Any = None
    starting_input: Any = None


class StopBody(BaseModel):
    """The body of a stop.

    Attributes:
        moderate: Clients are told it was moderation.
        reason: What clients are told, at most 64 characters.
    """

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)

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
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise StartRefusedError(key or None, first["msg"]) from None
    if start.generation != STREAMED:
        wanted = "stepped sessions are not served; use 'streamed'"
        raise StartRefusedError("generation", wanted)
    for key in ("steps", "starting_input"):
        if getattr(start, key) is not None:
            raise StartRefusedError(key, "not supported yet; leave it out")
    return start
