"""Every kind of declaration a client can see, in one model. Its schema is a literal in a test."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, List, Literal, Optional  # noqa: UP035

from reactor_runtime import (
    Audio,
    ClientInfo,
    InputField,
    InputState,
    MediaInput,
    MessageField,
    ModelMessage,
    Output,
    ReactorModel,
    UploadedFile,
    Video,
    event,
)

Side = Literal["left", "right"]


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


@dataclass
class Pose:
    x: float
    y: float = 0.0
    tags: tuple[str, ...] = ()


class Voice(Audio):
    sample_rate = 16_000


class Picture(Output):
    main_video: Video
    main_audio: Voice


class Sources(MediaInput):
    webcam: Video


class Placed(ModelMessage):
    """Where something was put.

    More about it.
    """

    pose: Pose = MessageField(description="Where.")
    count: int = MessageField(default=0, description="How many are there.")


class Noticed(ModelMessage):
    text: Optional[str] = None  # noqa: UP045


class CatalogueState(InputState):
    prompt: str = InputField(
        default="a sea", min_length=1, max_length=200, description="What to show.", moderate=True
    )
    speed: float = InputField(default=1.0, ge=0, le=4.5)
    mood: Mood = Mood.CALM
    picture: UploadedFile
    _seen: int = 0


class Catalogue(ReactorModel):
    """Shows everything."""

    state: CatalogueState
    sources: Sources

    @event(name="place", description="Put something somewhere.")
    async def put(
        self,
        pose: Pose,
        client: ClientInfo,
        side: Side = "left",
        weights: list[list[float]] = InputField(max_length=4),
    ) -> Placed:
        await client.send(Noticed(text="placed"))
        return Placed(pose=pose)

    @event
    def attach(
        self,
        files: list[UploadedFile],
        cover: UploadedFile | None = None,
        numbers: Optional[List[int]] = InputField(default=None, description="Some."),  # noqa: UP006, UP045
        extra: dict = InputField(default=None),  # type: ignore[type-arg]
        anything: Any = 1,
        size: int = InputField(default=2, choices=[1, 2, 4]),
        mixed: Literal["a", 1] = "a",
        flag: bool = False,
    ) -> None: ...

    @event
    def reset(self) -> "Placed | None": ...

    def generate(self, input: CatalogueState) -> Picture:
        return Picture(main_video=None, main_audio=None)
