"""Three cameras in, messages out, and no output track at all."""

from typing import Any

from reactor_runtime import ApplicationError, MediaInput, ModelMessage, ReactorModel, Video


class Cameras(MediaInput):
    left: Video
    middle: Video
    right: Video


class Seen(ModelMessage):
    greys: list[int]


class ComparesThreeCameras(ReactorModel):
    eyes: Cameras

    def process_input(self) -> list[Any]:
        found = [eye.try_read() for eye in (self.eyes.left, self.eyes.middle, self.eyes.right)]
        if not all(found):
            raise ApplicationError("a camera has sent nothing new")
        return [frames[0].data for frames in found if frames]

    async def generate(self, pictures: list[Any]) -> None:
        await self.send(Seen(greys=[round(float(picture.mean())) for picture in pictures]))
