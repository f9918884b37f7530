"""A program: passes TCP connections on, as a proxy does in front of a server nobody can reach.

``python -m tests.e2e.forwards_a_port HOST PORT TO_HOST`` listens on HOST and goes on to TO_HOST.
"""

import asyncio
import contextlib
import sys


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def forward(host: str, port: int, to_host: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(to_host, port)
        await asyncio.gather(pump(reader, there[1]), pump(there[0], writer))

    async with await asyncio.start_server(serve, host, port) as server:
        await server.serve_forever()


asyncio.run(forward(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
