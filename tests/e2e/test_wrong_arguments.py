"""Wrong arguments never reach a handler, in either version of the wire."""

import json
import math
import os
from collections.abc import Iterator
from typing import Any

import pytest
from tests.e2e.serving import Served, own_address, serving
from tests.e2e.wire_client import WireClient, wire_client
from tests.waiting import until

pytestmark = pytest.mark.skipif(own_address() is None, reason="aiortc finds no path on lo alone")

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("take", {"real": math.nan}, "real"),
    ("take", {"real": math.inf}, "real"),
    ("take", {"real": "NaN"}, "real"),
    ("take", {"real": "1.5"}, "real"),
    ("take", {"real": True}, "real"),
    ("take", {"whole": True}, "whole"),
    ("take", {"whole": "8080"}, "whole"),
    ("take", {"whole": 1.5}, "whole"),
    ("take", {"whole": math.nan}, "whole"),
    ("take", {"flag": "no"}, "flag"),
    ("take", {"flag": 0}, "flag"),
    ("take", {"text": 5}, "text"),
    ("take", {"text": None}, "text"),
    ("take", {"side": "up"}, "side"),
    ("take", {"side": ["left"]}, "side"),
    ("take", {"bounded": 1.01}, "bounded"),
    ("take", {"bounded": -math.inf}, "bounded"),
    ("take", {"bounded": {"value": 0.5}}, "bounded"),
    ("take", {"unknown": 1}, "unknown"),
    ("need", {}, "name"),
    ("need", {"name": "a", "client": "mallory"}, "client"),
    ("set_level", {"level": 11}, "level"),
    ("set_level", {"level": True}, "level"),
    ("no_such_command", {"x": 1}, "no_such_command"),
    ("__init__", {}, "__init__"),
    ("load", {}, "load"),
]
JSON_ONLY = ("NaN", "1e999", '"NaN"', "-Infinity", "true", "[]")
JUNK: list[bytes | str] = [
    b"",
    b"\x00",
    b"\xff" * 64,
    os.urandom(200),
    b"\x0a\xff\xff\xff\xff\x0f",  # a string of 4 GiB, announced
    b"{not json",
    "{not json",
    "[1, 2]",
    '"text"',
    "null",
    "\x00",
    "[" * 5000,
]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("tests.models.takes_every_kind:TakesEveryKind") as served:
        yield served
        assert "Traceback" not in served.log()


async def runs(client: WireClient) -> int:
    return int((await client.call("count")).message.data["runs"])


async def test_every_wrong_argument_is_refused_by_name_and_the_handler_not_run(
    served: Served,
) -> None:
    async with wire_client(served.url) as client:
        before = await runs(client)
        for command, arguments, named in WRONG:
            answer = await client.call(command, arguments)
            assert answer.error.code == "invalid_command", (command, arguments)
            assert command in answer.error.message, (command, arguments)
            assert named in answer.error.message, (command, arguments)
            assert "Traceback" not in answer.error.message
        assert await runs(client) == before
        answer = await client.call("take", {"whole": 3.0, "real": 2, "flag": True, "bounded": 1})
        assert answer.message.data["types"] == "int float bool str str float"
        assert (await client.call("set_level", {"level": 3})).error.code == ""
    await stop(served)


async def test_frames_that_nobody_can_read_change_nothing(served: Served) -> None:
    async with wire_client(served.url) as client:
        await client.call("count")
        for channel in client.channels.values():
            for junk in JUNK:
                channel.send(junk)
        assert (await client.call("take")).message.type == "taken"
        assert client.pc.connectionState == "connected"
    await stop(served)


async def test_json_clients_are_refused_silently_and_go_on(served: Served) -> None:
    async with wire_client(served.url) as client:
        client.say("count", "{}")
        await until(lambda: client.texts)
        before = client.texts[-1]["data"]["data"]["runs"]
        for value in JSON_ONLY:
            client.say("take", json.dumps({"real": 0}).replace("0", value))
            client.say("take", json.dumps({"whole": 0}).replace("0", value))
        client.say("take", "[]")
        client.say("take", '"text"')
        for junk in JUNK:
            client.channels["data"].send(junk)
        seen = len(client.texts)
        client.say("count", "{}")
        await until(lambda: len(client.texts) > seen)
        assert client.texts[-1]["data"]["data"]["runs"] == before
        client.say("take", '{"whole": 3.0}')
        await until(lambda: len(client.texts) > seen + 1)
        assert client.texts[-1]["data"]["data"]["runs"] == before + 1
    await stop(served)


async def stop(served: Served) -> None:
    """End the session, so that the next test may start one."""
    async with wire_client(served.url, adopt=True) as client:
        await client.signaling.http.post("/stop_session", json={})  # type: ignore[attr-defined]
    served.wait_for_state("ready")
