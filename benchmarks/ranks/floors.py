"""What no runner can beat on this machine: a socket-pair ping-pong, one copy of a chunk.

python floors.py WORLD_SIZE     asked as ``answering`` says
"""

import mmap
import os
import pickle
import selectors
import socket
import struct
import subprocess
import sys

import numpy as np
from answering import answer, timed
from bench_worker import SHAPE

_LENGTH = struct.Struct("<I")
_MESSAGE = ("step", {"chunk": 7, "slot": 3})


def _send(end, data):
    end.sendall(_LENGTH.pack(len(data)) + data)


def _receive(end):
    head = end.recv(_LENGTH.size, socket.MSG_WAITALL)
    return end.recv(_LENGTH.unpack(head)[0], socket.MSG_WAITALL) if head else b""


def _answer(file):
    end = socket.socket(fileno=int(file))
    while data := _receive(end):
        pickle.loads(data)
        _send(end, pickle.dumps((0, "done"), 5))


def _ask_all(ends, selector):
    data = pickle.dumps(_MESSAGE, 5)
    for end in ends:
        _send(end, data)
    left = len(ends)
    while left:
        for key, _ in selector.select():
            pickle.loads(_receive(key.fileobj))
            left -= 1


class PingPong:
    """Broadcasts a small pickle to fresh interpreters and collects one answer from each."""

    def __init__(self, world_size):
        pairs = [socket.socketpair() for _ in range(world_size)]
        program = [sys.executable, __file__, "answer"]
        self.peers = [
            subprocess.Popen([*program, str(far.fileno())], pass_fds=[far.fileno()])
            for _, far in pairs
        ]
        self.ends = [near for near, _ in pairs]
        self.selector = selectors.DefaultSelector()
        for near, far in pairs:
            far.close()
            self.selector.register(near, selectors.EVENT_READ)

    def samples(self, count, warm):
        return timed(lambda: _ask_all(self.ends, self.selector), count, warm)

    def close(self):
        self.selector.close()
        for near in self.ends:
            near.close()
        for peer in self.peers:
            peer.wait()


def round_trips(world_size, count):
    pingpong = PingPong(world_size)
    try:
        return pingpong.samples(count, warm=100)
    finally:
        pingpong.close()


class Floors:
    def __init__(self, world_size):
        self.pingpong = PingPong(world_size)
        size = int(np.prod(SHAPE))
        file = os.memfd_create("floor")
        os.posix_fallocate(file, 0, size)
        self.target = np.frombuffer(mmap.mmap(file, size), np.uint8)
        self.source = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)

    def round_trip(self):
        return self.pingpong.samples(100, warm=10)

    def copy(self):
        """Copy one chunk into warm shared memory."""
        return timed(lambda: np.copyto(self.target, self.source), 4, warm=2)


if __name__ == "__main__":
    if sys.argv[1] == "answer":
        _answer(sys.argv[2])
    else:
        floors = Floors(int(sys.argv[1]))
        answer(floors)
        floors.pingpong.close()
