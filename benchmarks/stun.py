"""A STUN responder (RFC 5389 binding), for runtimes that ask one before they answer an offer."""

import socket
import struct
import sys

COOKIE = 0x2112A442


def main() -> None:
    host, port = sys.argv[1], int(sys.argv[2])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((host, port))
        while True:
            request, (address, source) = server.recvfrom(2048)
            if len(request) < 20 or request[:2] != b"\0\1":
                continue
            mapped = struct.unpack("!I", socket.inet_aton(address))[0] ^ COOKIE
            value = struct.pack("!HHI", 1, source ^ (COOKIE >> 16), mapped)
            body = struct.pack("!HH", 0x0020, len(value)) + value
            server.sendto(
                struct.pack("!HH", 0x0101, len(body)) + request[4:20] + body, (address, source)
            )


if __name__ == "__main__":
    main()
