"""What no runner can beat on this machine: a socket-pair ping-pong, one copy of a chunk."""

import mmap
import os
import pickle
import selectors
import socket
import struct
import subprocess
import sys
import time

import numpy as np
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
    began = time.perf_counter()
    data = pickle.dumps(_MESSAGE, 5)
    for end in ends:
        _send(end, data)
    left = len(ends)
    while left:
        for key, _ in selector.select():
            pickle.loads(_receive(key.fileobj))
            left -= 1
    return time.perf_counter() - began


def round_trips(world_size, count=1000):
    """Broadcast a small pickle to fresh interpreters and collect one answer from each."""
    pairs = [socket.socketpair() for _ in range(world_size)]
    peers = [
        subprocess.Popen([sys.executable, __file__, str(far.fileno())], pass_fds=[far.fileno()])
        for _, far in pairs
    ]
    selector = selectors.DefaultSelector()
    for near, far in pairs:
        far.close()
        selector.register(near, selectors.EVENT_READ)
    ends = [near for near, _ in pairs]
    for _ in range(100):
        _ask_all(ends, selector)
    samples = [_ask_all(ends, selector) for _ in range(count)]
    selector.close()
    for near, _ in pairs:
        near.close()
    for peer in peers:
        peer.wait()
    return samples


def copies(count=40):
    """Copy one chunk into warm shared memory."""
    size = int(np.prod(SHAPE))
    file = os.memfd_create("floor")
    os.posix_fallocate(file, 0, size)
    target = np.frombuffer(mmap.mmap(file, size), np.uint8)
    source = np.random.default_rng(0).integers(0, 256, size, dtype=np.uint8)
    samples = []
    for _ in range(count + 3):
        began = time.perf_counter()
        np.copyto(target, source)
        samples.append(time.perf_counter() - began)
    return samples[3:]


if __name__ == "__main__":
    _answer(sys.argv[1])
