"""ClientConnection: a connection whose client understands what it is sent."""

import itertools
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from reactor_runtime.errors import CommandError
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.session.session import Session
from reactor_runtime.testing.client_codec import decode as decode_frame
from reactor_runtime.testing.client_codec import (
    encode_command,
    encode_control,
    encode_file_uploaded,
    encode_ping,
)
from reactor_runtime.testing.client_inbox import ClientInbox
from reactor_runtime.testing.fake_connection import FakeConnection
from reactor_runtime.testing.received import Frame
from reactor_runtime.uploads.upload import UploadSpec
from reactor_runtime.uploads.upload_ledger import mint_id
from reactor_runtime.wire import messages as say
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel


class ClientConnection(FakeConnection):
    """Speaks v1 with the session. Used on the test's loop.

    Args:
        session: Whom it talks to.
        connection_id: Its number.
        inbox: Where what it receives goes.
        tracks: The output tracks, all of which it plays until it pauses one.
    """

    def __init__(
        self,
        session: Session,
        connection_id: int,
        inbox: ClientInbox,
        tracks: Iterable[str],
    ) -> None:
        super().__init__(session, connection_id)
        self._uploads = session.wiring.uploads
        self.inbox = inbox
        self.playing = set(tracks)
        self._published: set[str] = set()
        self._numbers = itertools.count(1)

    def send(self, channel: Channel, frame: bytes | str, *, can_drop: bool = False) -> None:
        """Receive one frame."""
        super().send(channel, frame, can_drop=can_drop)
        self.inbox.take_in(decode_frame(channel, frame))

    def vanish(self, reason: str = "gone") -> None:
        """Be gone."""
        self.inbox.end(reason)
        super().vanish(reason)

    def show_picture(self, frame: Frame) -> None:
        """Receive one frame of an output track, unless it is paused."""
        if frame.track in self.playing and not self.is_closed:
            self.inbox.show(frame)

    def ping(self) -> None:
        """Give a sign of life, as clients do every few seconds."""
        if not self.is_closed:
            self.say(Channel.CONTROL, encode_ping())

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Call a command, files among its arguments sent first; return its answer's id.

        Raises:
            ReactorError: A file is refused.
        """
        request_id = f"data_{next(self._numbers)}"
        sent = {key: await self._with_files_sent(value) for key, value in arguments.items()}
        files = {k: file for k, file in sent.items() if isinstance(file, say.UploadReference)}
        plain = {key: _inline(value) for key, value in sent.items() if key not in files}
        self.say(Channel.DATA, encode_command(request_id, name, plain, files))
        return request_id

    async def upload(self, file: UploadedFile) -> say.UploadReference:
        """Send the bytes of *file*, past the channels.

        Raises:
            ReactorError: It is refused.
        """
        spec = UploadSpec(
            upload_id=mint_id(), name=file.name, mime_type=file.mime_type, size=file.size
        )
        place = await self._uploads.reserve(spec)
        await self._uploads.receive(place.slot, file.size, _pieces(file.data))
        return say.UploadReference(**asdict(spec))

    def announce(self, file: say.UploadReference) -> None:
        """Say that a file has been sent."""
        self.say(Channel.CONTROL, encode_file_uploaded(file))

    def pause(self, track: str) -> None:
        """Want an output track no more."""
        self.say(Channel.CONTROL, encode_control(pause_track=pb.PauseTrack(name=track)))

    def resume(self, track: str) -> None:
        """Want an output track again."""
        self.say(Channel.CONTROL, encode_control(resume_track=pb.ResumeTrack(name=track)))

    def feed(self, track: str, frame: InputFrame) -> None:
        """Send one frame of an input track, which is asked for first.

        Raises:
            CommandError: The track is refused.
        """
        if track not in self._published:
            self._publish(track)
            self._published.add(track)
        self.show(track, frame)

    async def _with_files_sent(self, value: Any) -> Any:
        """Return *value* with every file in it uploaded and referred to."""
        if isinstance(value, UploadedFile):
            return await self.upload(value)
        if isinstance(value, Mapping):
            return {key: await self._with_files_sent(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [await self._with_files_sent(each) for each in value]
        return value

    def _publish(self, track: str) -> None:
        request_id = f"control_{next(self._numbers)}"
        request = pb.PublishTrack(name=track)
        self.say(Channel.CONTROL, encode_control(request_id, publish_track=request))
        answer = self.inbox.answers.get(request_id)  # a session answers at once
        if isinstance(answer, say.ControlFailure):
            raise CommandError(answer.code, f"{track}: {answer.message}")


def _inline(value: Any) -> Any:
    """Return *value* with every file in it as an object: beside the others only arguments go."""
    if isinstance(value, say.UploadReference):
        return asdict(value)
    if isinstance(value, dict):
        return {key: _inline(each) for key, each in value.items()}
    return [_inline(each) for each in value] if isinstance(value, list) else value


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data
