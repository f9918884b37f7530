"""ClientInfo and UploadedFile: values that authors and their tests construct."""

import asyncio

from reactor_runtime import ClientInfo, ModelMessage, UploadedFile


class Hello(ModelMessage):
    text: str


def test_a_client_has_an_id_and_a_time() -> None:
    client = ClientInfo(id="c1", joined_at=1.5)
    assert (client.id, client.joined_at) == ("c1", 1.5)
    assert client == ClientInfo("c1", 1.5)
    assert len({client, ClientInfo("c1", 1.5), ClientInfo("c2", 1.5)}) == 2


def test_sending_to_a_client_nobody_serves_does_nothing() -> None:
    client = ClientInfo(id="c1")
    for _ in range(2):  # bound to no loop
        asyncio.run(client.send(Hello(text="hi")))


def test_a_file_is_its_name_type_and_bytes() -> None:
    file = UploadedFile(name="a.png", mime_type="image/png", data=b"123")
    assert file.size == 3
    assert file == UploadedFile("a.png", "image/png", b"123")
    assert "123" not in repr(file)
