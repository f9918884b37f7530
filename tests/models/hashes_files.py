"""Says what the bytes of the files it is given come to, on every rank; shows grey meanwhile."""

import hashlib
from dataclasses import dataclass, field

from tests.models.parts import Picture, flat

from reactor_runtime import (
    InputState,
    ModelMessage,
    ReactorModel,
    UploadedFile,
    event,
    file_uploaded,
    get_logger,
)

log = get_logger(__name__)


class Hashes(ModelMessage):
    names: list[str]
    hashes: list[str]


class Came(ModelMessage):
    name: str
    size: int


@dataclass
class Page:
    title: str
    art: dict[str, list[UploadedFile]] = field(default_factory=dict)


class HashState(InputState):
    image: UploadedFile | None = None
    level: int = 40


class HashesFiles(ReactorModel):
    state: HashState
    fps = 24

    @file_uploaded
    async def came(self, file: UploadedFile) -> None:
        await self.send(Came(name=file.name, size=file.size))

    @event
    def hash_one(self, file: UploadedFile, times: int = 1) -> Hashes:
        return self._hashes([file] * times)

    @event
    def hash_all(self, files: list[UploadedFile]) -> Hashes:
        return self._hashes(files)

    @event
    def hash_page(self, page: Page) -> Hashes:
        return self._hashes([file for _, files in sorted(page.art.items()) for file in files])

    @event
    def hash_image(self) -> Hashes:
        return self._hashes([self.state.image] if self.state.image else [])

    def _hashes(self, files: list[UploadedFile]) -> Hashes:
        hashes = [hashlib.sha256(file.data).hexdigest() for file in files]
        log.info("files_hashed", hashes=hashes)
        return Hashes(names=[file.name for file in files], hashes=hashes)

    def generate(self, state: HashState) -> Picture:
        return Picture(main_video=flat(state.level))
