"""Files as arguments, optional ones, in the state, and by hook."""

from __future__ import annotations

from reactor_runtime import (
    ClientInfo,
    InputState,
    ModelMessage,
    ReactorModel,
    UploadedFile,
    event,
    file_uploaded,
)


class FileState(InputState):
    image: UploadedFile
    _seen: int = 0


class Got(ModelMessage):
    name: str
    mime_type: str
    size: int
    text: str


def got(file: UploadedFile) -> Got:
    return Got(name=file.name, mime_type=file.mime_type, size=file.size, text=file.data.decode())


class TakesFiles(ReactorModel):
    state: FileState

    @event
    def take(self, file: UploadedFile, second: UploadedFile | None = None) -> Got:
        assert isinstance(file.data, bytes)
        assert second is None
        return got(file)

    @event
    def image_of_state(self) -> Got | None:
        return None if self.state.image is None else got(self.state.image)

    @file_uploaded
    async def came(self, client: ClientInfo, file: UploadedFile) -> None:
        self.state._seen += 1
        await client.send(got(file))

    def generate(self, input: object) -> None:
        return None
