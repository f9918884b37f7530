"""Commands that refer to files: who waits for what, in which order, and what is answered."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.unit.session.room import Room, Viewer, retained, settle
from tests.waiting import until

from reactor_runtime import (
    ClientInfo,
    InputState,
    Output,
    ReactorPipeline,
    UploadedFile,
    Video,
    event,
    file_uploaded,
)
from reactor_runtime.host.events import CommandCalled, FileArrived
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.uploads.upload import UploadSpec
from reactor_runtime.uploads.upload_settings import UploadSettings
from reactor_runtime.wire import reactor_pb2 as pb
from reactor_runtime.wire.channel import Channel


class Board(InputState):
    speed: int = 1
    image: UploadedFile | None = None


class Shown(Output):
    main_video: Video


@dataclass
class Layer:
    file: UploadedFile
    opacity: float = 1.0

    def __post_init__(self) -> None:
        if not self.file.data.startswith(b"a"):
            raise ValueError("no such layer")


class Gallery(ReactorPipeline):
    state: Board

    @file_uploaded
    def arrived(self, file: UploadedFile, client: ClientInfo) -> None: ...

    @event
    def show(self, file: UploadedFile) -> None: ...

    @event
    def hang(self, files: list[UploadedFile], layer: Layer | None = None) -> None: ...

    @event
    def take(self, thing: Any) -> None: ...

    @event
    def shout(self) -> None: ...

    def inference(self) -> Any:
        while True:
            yield Shown(main_video=None)


@pytest.fixture
async def gallery(tmp_path: Path) -> AsyncIterator[Room]:
    """A running session whose model takes files; it waits for one only a moment."""
    uploads = UploadSettings(parent=tmp_path, min_free_bytes=0, resolve_timeout_s=0.3)
    room = Room(SessionSettings(uploads=uploads), Gallery)
    await room.ready()
    await room.started()
    yield room
    await room.session.close()


async def reserve(room: Room, upload_id: str = "u1", size: int = 3) -> str:
    spec = UploadSpec(upload_id=upload_id, name="a.png", mime_type="image/png", size=size)
    return (await room.session.wiring.uploads.reserve(spec)).slot


async def send(room: Room, slot: str, data: bytes = b"abc") -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield data

    await room.session.wiring.uploads.receive(slot, len(data), pieces())


async def keep(room: Room, upload_id: str = "u1", data: bytes = b"abc") -> None:
    await send(room, await reserve(room, upload_id, len(data)), data)


def beside(viewer: Viewer, request_id: str, name: str, **files: str) -> None:
    """Call a command with files beside its arguments."""
    envelope = pb.DataClientMessage(request_id=request_id, kind=1)
    envelope.command.type = name
    for argument, upload_id in files.items():
        envelope.command.uploads[argument].upload_id = upload_id
    viewer.say(Channel.DATA, envelope.SerializeToString())


def inline(upload_id: str = "u1") -> dict[str, Any]:
    return {"upload_id": upload_id, "name": "x.png", "mime_type": "image/png", "size": 3}


def names(room: Room) -> list[str]:
    return [call.name for call in room.host.calls()]


FILE = UploadedFile(name="a.png", mime_type="image/png", data=b"abc")


async def test_references_of_every_form_arrive_as_files(gallery: Room) -> None:
    viewer, old = gallery.v1(), gallery.client(5001, has_control=False)
    await keep(gallery)
    beside(viewer, "data_1", "show", file="u1")
    viewer.call("data_2", "show", file=inline())
    viewer.call("data_3", "hang", files=[inline(), inline()], layer={"file": inline()})
    viewer.call("data_4", "set_image", image=inline())
    beside(viewer, "data_5", "take", thing="u1")
    old.say(
        Channel.DATA,
        '{"scope":"application","data":{"type":"show","data":{},"uploads":{"file":'
        '{"upload_id":"u1","name":"x","mime_type":"y","size":3}}}}',
    )
    await until(lambda: len(gallery.host.calls()) == 6)
    got = [call.arguments for call in gallery.host.calls() if call.client_id == "client-5000"]
    assert got == [
        {"file": FILE},
        {"file": FILE},
        {"files": [FILE, FILE], "layer": Layer(FILE)},
        {"image": FILE},
        {"thing": FILE},
    ]
    assert [c.arguments for c in gallery.host.calls() if c.client_id == "client-5001"] == [
        {"file": FILE}
    ]


async def test_a_reference_nobody_reserved_is_refused_at_once(gallery: Room) -> None:
    viewer = gallery.v1()
    await keep(gallery)
    beside(viewer, "data_1", "show", file="u9")
    viewer.call("data_2", "hang", files=[inline("u1"), inline("u9")])
    assert viewer.answers() == [("data_1", "unresolved_upload"), ("data_2", "unresolved_upload")]
    assert "show.file: refers to a file that nobody reserved" in viewer.on_data[0].error.message
    assert "hang.files: at [1]: refers" in viewer.on_data[1].error.message
    assert gallery.host.calls() == []


async def test_what_else_is_wrong_is_not_waited_with(gallery: Room) -> None:
    viewer = gallery.v1()
    await reserve(gallery)
    viewer.call("data_1", "hang", files=[inline()], layer=5)
    beside(viewer, "data_2", "set_speed", speed="u1")
    assert viewer.answers() == [("data_1", "invalid_command"), ("data_2", "invalid_command")]


async def test_a_command_that_overtakes_its_file_waits_and_holds_up_nobody_else(
    gallery: Room,
) -> None:
    early, other = gallery.v1(5000), gallery.v1(5001)
    slot = await reserve(gallery)
    beside(early, "data_1", "show", file="u1")
    early.call("data_2", "shout")
    other.call("data_1", "set_speed", speed=3)
    await settle()
    assert names(gallery) == ["set_speed"]
    await send(gallery, slot)
    await until(lambda: len(gallery.host.calls()) == 3)
    assert names(gallery) == ["set_speed", "show", "shout"]  # in the order of its own client
    for call in gallery.host.calls():
        gallery.host.reply(call)
    await until(lambda: len(early.answers()) == 2)
    assert early.answers() == [("data_1", "ok"), ("data_2", "ok")]


async def test_a_file_that_does_not_come_is_unresolved_and_what_follows_goes_on(
    gallery: Room,
) -> None:
    viewer = gallery.v1()
    await reserve(gallery)
    beside(viewer, "data_1", "show", file="u1")
    viewer.call("data_2", "shout")
    await until(lambda: names(gallery) == ["shout"])
    assert viewer.answers() == [("data_1", "unresolved_upload")]
    assert "did not arrive within 0.3 s" in viewer.on_data[0].error.message


async def test_only_commands_that_run_are_recorded_and_no_bytes_are(gallery: Room) -> None:
    viewer = gallery.v1()
    await keep(gallery)
    await reserve(gallery, "late")
    beside(viewer, "data_1", "show", file="late")
    viewer.call("data_2", "hang", files=[inline()])
    await until(lambda: names(gallery) == ["hang"])
    recorded = [e["detail"] for e in retained(gallery.session.events) if e["event"] == "command"]
    assert recorded == [{"name": "hang", "args": {"files": [inline()]}, "conn_id": 5000}]
    beside(viewer, "data_3", "show", file="u1")
    await until(lambda: len(gallery.host.calls()) == 2)
    recorded = [e["detail"] for e in retained(gallery.session.events) if e["event"] == "command"]
    assert recorded[-1]["args"]["file"]["upload_id"] == "u1"


async def test_what_the_authors_own_check_refuses_is_refused(gallery: Room) -> None:
    viewer = gallery.v1()
    await keep(gallery, "bad", b"xyz")
    viewer.call("data_1", "hang", files=[], layer={"file": inline("bad")})
    await until(lambda: viewer.answers() != [])
    assert viewer.answers() == [("data_1", "invalid_command")]


async def test_a_newer_value_takes_the_place_of_one_that_waits(gallery: Room) -> None:
    viewer = gallery.v1()
    await reserve(gallery, "slow")
    await keep(gallery, "fast")
    viewer.call("data_1", "set_image", image=inline("slow"))
    viewer.call("data_2", "set_image", image=inline("fast"))
    await until(lambda: names(gallery) == ["set_image"])
    assert viewer.answers() == [("data_1", "ok")]
    assert gallery.host.calls()[0].arguments["image"].data == b"abc"


async def test_a_client_that_leaves_takes_along_what_waits_for_its_file(gallery: Room) -> None:
    viewer, other = gallery.v1(5000), gallery.v1(5001)
    slot = await reserve(gallery)
    beside(viewer, "data_1", "show", file="u1")
    viewer.call("data_2", "shout")
    viewer.vanish()
    assert names(gallery) == ["shout"]  # it had been sent; a file that may never come had not
    await send(gallery, slot)
    beside(other, "data_1", "show", file="u1")
    await until(lambda: len(gallery.host.calls()) == 2)
    assert gallery.host.calls()[1].client_id == "client-5001"


async def test_an_ending_session_answers_what_waits_and_the_next_knows_no_file(
    gallery: Room,
) -> None:
    viewer = gallery.v1()
    await keep(gallery, "here")
    await reserve(gallery, "late")
    beside(viewer, "data_1", "show", file="late")
    await gallery.session.stop_session()
    assert viewer.answers() == [("data_1", "session_ended")]
    await until(lambda: not gallery.session.state.is_running)
    await until(lambda: gallery.session.state == "ready")
    await gallery.started()
    again = gallery.v1(5002)
    for upload_id in ("here", "late"):
        beside(again, f"data_{upload_id}", "show", file=upload_id)
    assert [code for _, code in again.answers()] == ["unresolved_upload"] * 2
    assert names(gallery) == []


async def test_the_hook_hears_of_a_file_once_in_the_order_of_its_client(gallery: Room) -> None:
    viewer = gallery.v1()
    slot = await reserve(gallery)
    notice = pb.FileUploaded(upload_id="u1", name="lie", mime_type="lie", size=9)
    viewer.control(file_uploaded=notice)
    viewer.control(file_uploaded=notice)
    viewer.control(file_uploaded=pb.FileUploaded(upload_id="unknown"))
    viewer.call("data_1", "shout")
    await settle()
    assert names(gallery) == []
    await send(gallery, slot)
    await until(lambda: names(gallery) == ["shout"])
    kinds = [e for e in gallery.host.posted if isinstance(e, FileArrived | CommandCalled)]
    assert kinds[0] == FileArrived(client_id="client-5000", file=FILE)
    assert len(kinds) == 2


async def test_many_notices_at_once_are_all_heard(gallery: Room) -> None:
    viewer = gallery.v1()
    for n in range(60):  # more than the questions a client may ask in a second
        await keep(gallery, f"u{n}")
    for n in range(60):
        viewer.control(file_uploaded=pb.FileUploaded(upload_id=f"u{n}"))
    await until(lambda: sum(isinstance(e, FileArrived) for e in gallery.host.posted) == 60)


async def test_a_notice_of_a_file_that_never_comes_is_dropped(gallery: Room) -> None:
    viewer = gallery.v1()
    await reserve(gallery)
    viewer.control(file_uploaded=pb.FileUploaded(upload_id="u1"))
    viewer.call("data_1", "shout")
    await until(lambda: names(gallery) == ["shout"])
    assert not any(isinstance(e, FileArrived) for e in gallery.host.posted)


async def test_what_waits_for_a_file_counts_against_the_inbox(tmp_path: Path) -> None:
    uploads = UploadSettings(parent=tmp_path, min_free_bytes=0, resolve_timeout_s=5)
    room = Room(SessionSettings(uploads=uploads, max_pending=3), Gallery)
    await room.ready()
    await room.started()
    viewer = room.v1()
    slot = await reserve(room)
    for n in range(3):
        beside(viewer, f"data_{n}", "show", file="u1")
    viewer.call("data_3", "shout")
    beside(viewer, "data_4", "show", file="u1")
    assert viewer.answers() == [("data_3", "overloaded"), ("data_0", "superseded")]
    await send(room, slot)
    await until(lambda: len(room.host.calls()) == 3)
    await room.session.close()
