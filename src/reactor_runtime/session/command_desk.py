"""CommandDesk: where a client's command is checked, and given the files it refers to.

A command whose files are not at hand keeps its place in its client's order while they are fetched.
Neither the event loop nor another client waits for them, and a file that nobody has reserved is
waited for by no one.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from reactor_runtime.errors import PayloadError, UnresolvedUploadError, UploadAbsentError
from reactor_runtime.host.events import FileArrived
from reactor_runtime.log import get_logger
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.file_references import FileReference
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.session.call_queue import Call
from reactor_runtime.session.client import Client
from reactor_runtime.session.event_inbox import EventInbox
from reactor_runtime.session.wiring import Wiring
from reactor_runtime.wire import messages as say
from reactor_runtime.wire.codec import WireVersion

log = get_logger(__name__)

_LOGGED_BYTES = 4096


class CommandDesk:
    """Stands between the messages of clients and the inbox.

    Args:
        contract: What the model declares.
        inbox: Where commands are admitted.
        wiring: The files, and tasks to wait for them in.
        note: Records an event for operators.
    """

    def __init__(
        self,
        contract: ModelContract,
        inbox: EventInbox,
        wiring: Wiring,
        note: Callable[..., None],
    ) -> None:
        self._contract, self._inbox, self._note = contract, inbox, note
        self._uploads, self._tasks = wiring.uploads, wiring.tasks
        self._minted = itertools.count(1)

    def call(self, client: Client, command: say.Command) -> None:
        """Have *command* run, or refused."""
        if not command.request_id and client.version is WireVersion.V1:
            command = replace(command, request_id=f"server_{next(self._minted)}")
        declared = self._contract.commands.get(command.name)
        coalesces = declared is not None and declared.field is not None
        try:
            arguments = self._bind(command, self._uploads.at_hand)
        except UnresolvedUploadError as error:
            self._wait(client, command, error, coalesces)
        except PayloadError as error:
            self._inbox.refuse(client, command, error.code, str(error), error.field)
        else:
            if self._inbox.admit(client, command, arguments, coalesces=coalesces):
                self._note_accepted(client, command)

    def announce(self, client: Client, notice: say.FileUploaded) -> None:
        """Have the model's hook run for a file that *client* has sent; once for each file."""
        upload_id = notice.file.upload_id
        if self._contract.lifecycle.file_uploaded is None or not self._uploads.announce(upload_id):
            return
        place = self._inbox.keep_place(client)
        self._tasks.spawn(self._announce(client, place, upload_id), "file_uploaded")

    # --- waiting ---

    def _wait(
        self, client: Client, command: say.Command, missing: UnresolvedUploadError, coalesces: bool
    ) -> None:
        strangers = tuple(each for each in missing.wanted if not self._uploads.knows(each[0]))
        if strangers:
            error = UnresolvedUploadError.of(command.name, strangers, "that nobody reserved here")
            self._inbox.refuse(client, command, error.code, str(error), error.field)
            return
        call = self._inbox.admit(client, command, None, coalesces=coalesces)
        if call is not None:
            self._tasks.spawn(self._supply(call, command, missing), "command_files")

    async def _supply(
        self, call: Call, command: say.Command, missing: UnresolvedUploadError
    ) -> None:
        arguments = None
        code, text = "internal_error", "the command failed"
        try:
            arguments = await self._bind_with_files(command, missing)
        except PayloadError as error:
            code, text = error.code, str(error)
        finally:  # whatever happens, nobody stands behind it for ever
            if arguments is None:
                self._inbox.give_up(call, code, text)
            elif self._inbox.supply(call, arguments):
                self._note_accepted(call.client, command)

    async def _bind_with_files(
        self, command: say.Command, missing: UnresolvedUploadError
    ) -> dict[str, Any]:
        files: dict[str, UploadedFile] = {}
        while True:
            try:
                files |= await self._uploads.fetch(missing.upload_ids)
                return self._bind(command, files)
            except UnresolvedUploadError as error:  # one was at hand before, and is not any more
                missing = error
            except UploadAbsentError as error:
                absent = tuple(each for each in missing.wanted if each[0] == error.upload_id)
                why = f"that {error.reason}"
                raise UnresolvedUploadError.of(command.name, absent, why) from error

    async def _announce(self, client: Client, place: int, upload_id: str) -> None:
        event = None
        try:
            files = await self._uploads.fetch([upload_id])
            event = FileArrived(client_id=client.client_id, file=files[upload_id])
        except UploadAbsentError as error:
            log.warning("file_not_announced", client=client.client_id, reason=error.reason)
        finally:
            self._inbox.fill_place(client, place, event)

    # --- one command ---

    def _bind(self, command: say.Command, files: Mapping[str, UploadedFile]) -> dict[str, Any]:
        payload = command.arguments
        if command.uploads:
            beside = {key: FileReference(file.upload_id) for key, file in command.uploads.items()}
            payload = {**payload, **beside}
        return self._contract.bind(command.name, payload, files)

    def _note_accepted(self, client: Client, command: say.Command) -> None:
        is_short = command.size_bytes <= _LOGGED_BYTES
        beside = {key: asdict(file) for key, file in command.uploads.items()}
        self._note(
            "command",
            name=command.name,
            args={**command.arguments, **beside} if is_short else {},
            conn_id=client.connection.connection_id,
        )
