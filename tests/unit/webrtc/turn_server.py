"""A TURN server for tests: long-term credentials, one allocation per client, channels over UDP."""

import asyncio
import hashlib
import struct
from typing import Any

from aioice.stun import Class, Message, Method, parse_message

REALM, NONCE = "here", b"nonce"


class TurnServer(asyncio.DatagramProtocol):
    """Relays for whoever knows *username* and *password*.

    Attributes:
        relayed: Datagrams that passed, both ways.
    """

    def __init__(self, username: str, password: str, host: str) -> None:
        self.username, self.host, self.relayed = username, host, 0
        self.key = hashlib.md5(f"{username}:{REALM}:{password}".encode()).digest()
        self.relays: dict[Any, Relay] = {}

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def datagram_received(self, data: bytes, addr: Any) -> None:
        if data[0] & 0xC0 == 0x40:
            channel, size = struct.unpack("!HH", data[:4])
            self.relays[addr].send(channel, data[4 : 4 + size])
            return
        request = parse_message(data)
        if "MESSAGE-INTEGRITY" not in request.attributes:
            self.answer(
                request, addr, {"ERROR-CODE": (401, "Who?"), "REALM": REALM, "NONCE": NONCE}
            )
            return
        asyncio.get_running_loop().create_task(self.serve(request, addr))

    async def serve(self, request: Message, addr: Any) -> None:
        given: dict[str, Any] = {"LIFETIME": 600}
        if request.message_method == Method.ALLOCATE:
            relay = self.relays[addr] = Relay(self, addr)
            loop = asyncio.get_running_loop()
            await loop.create_datagram_endpoint(lambda: relay, local_addr=(self.host, 0))
            given["XOR-RELAYED-ADDRESS"] = relay.transport.get_extra_info("sockname")
            given["XOR-MAPPED-ADDRESS"] = addr
        elif request.message_method == Method.CHANNEL_BIND:
            number = request.attributes["CHANNEL-NUMBER"]
            self.relays[addr].channels[number] = request.attributes["XOR-PEER-ADDRESS"]
        elif request.attributes.get("LIFETIME") == 0:
            self.relays.pop(addr).transport.close()
        self.answer(request, addr, given)

    def answer(self, request: Message, addr: Any, given: dict[str, Any]) -> None:
        is_error = "ERROR-CODE" in given
        response = Message(
            message_method=request.message_method,
            message_class=Class.ERROR if is_error else Class.RESPONSE,
            transaction_id=request.transaction_id,
            attributes=given,
        )
        if not is_error:
            response.add_message_integrity(self.key)
        self.transport.sendto(bytes(response), addr)

    def close(self) -> None:
        for relay in self.relays.values():
            relay.transport.close()
        self.transport.close()


class Relay(asyncio.DatagramProtocol):
    """One allocation."""

    def __init__(self, server: TurnServer, client: Any) -> None:
        self.server, self.client = server, client
        self.channels: dict[int, Any] = {}

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def send(self, channel: int, payload: bytes) -> None:
        self.server.relayed += 1
        self.transport.sendto(payload, self.channels[channel])

    def datagram_received(self, data: bytes, addr: Any) -> None:
        for channel, peer in self.channels.items():
            if tuple(peer[:2]) == tuple(addr[:2]):
                self.server.relayed += 1
                head = struct.pack("!HH", channel, len(data))
                self.server.transport.sendto(head + data, self.client)
