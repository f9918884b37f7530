"""Parcels: messages as bytes and descriptors, large contents in shared memory.

A parcel is one message of a socket pair::

    u16 sender   a rank; 0 from the group
    u8  count    descriptors attached
    u8  form     0: a pickle follows   1: a directory follows, the contents lie in a block
    u32 said     notices the sender had sent before

The contents of a block are the sizes of what follows, the pickle, and each large buffer (an array's
bytes), written once however many ranks read it. Blocks are used again once nobody holds them.
Pickles are read from socket pairs that the process inherited, never from a network.
"""

import io
import itertools
import mmap
import os
import pickle
import struct
import sys
import weakref
from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from reactor_runtime.distributed.anonymous_memory import (
    AnonymousMemory,
    map_private,
    map_shared,
)
from reactor_runtime.distributed.frame_parts import aligned
from reactor_runtime.distributed.messages import as_values, from_values, light_values
from reactor_runtime.distributed.warm_copies import WarmCopies, copy_bytes

HEAD: Final = struct.Struct("<HBBI")
INLINE_LIMIT: Final = 32 << 10  # bytes of a buffer, and of a pickle, that travel in the channel
_FORM_AT: Final = 3
_BODY_AT: Final = HEAD.size
MAIN_ALIAS: Final = "__reactor_main__"  # the name under which a rank imports the parent's script
_ALIAS_BYTES: Final = MAIN_ALIAS.encode()


def try_to_carry(value: object) -> None:
    """Find out whether *value* can be put into a parcel; arrays are not copied.

    Raises:
        Exception: Whatever its contents raise when they are pickled.
    """
    pickle.dumps(value, pickle.HIGHEST_PROTOCOL, buffer_callback=lambda _: None)


class Parcel(NamedTuple):
    """One message of a socket pair.

    Attributes:
        data: The bytes, head included.
        descriptors: Open files that go with it, in order.
    """

    data: bytes
    descriptors: tuple[int, ...] = ()


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        """Let an array in any layout travel as one run of bytes."""
        if type(obj) is np.ndarray and not obj.flags.c_contiguous and not obj.dtype.hasobject:
            return np.ascontiguousarray(obj).__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        return NotImplemented


def _stays(buffer: pickle.PickleBuffer, large: list[pickle.PickleBuffer]) -> bool:
    """Keep small buffers in the pickle; put the others into *large*."""
    if memoryview(buffer).nbytes < INLINE_LIMIT:
        return True
    large.append(buffer)
    return False


def _dump(values: object, large: list[pickle.PickleBuffer]) -> bytes:
    out = io.BytesIO()
    pickler = _Pickler(
        out, pickle.HIGHEST_PROTOCOL, buffer_callback=lambda buffer: _stays(buffer, large)
    )
    pickler.dump(values)
    return out.getvalue()


def _load(body: Any, large: Sequence[Any] = ()) -> Any:
    """Return the message in a pickle; a class of our script may bear the name a rank has for it."""
    if _ALIAS_BYTES in body and MAIN_ALIAS not in sys.modules:
        return from_values(Unpickler(io.BytesIO(body), buffers=large).load())
    return from_values(pickle.loads(body, buffers=large))


class Unpickler(pickle.Unpickler):
    """Reads pickles of the other side of a channel."""

    def find_class(self, module: str, name: str) -> Any:
        """Find what a rank imported from our script where it is: in ``__main__``."""
        if module == MAIN_ALIAS and MAIN_ALIAS not in sys.modules:
            module = "__main__"
        return super().find_class(module, name)


class ParcelWriter:
    """Makes parcels of messages.

    Args:
        sender: The rank they come from.
        in_c_order: Whether every array is to arrive as a C-contiguous one, however it lies here.
    """

    def __init__(self, sender: int = 0, *, in_c_order: bool = False) -> None:
        self._sender = sender
        self._in_c_order = in_c_order
        self._numbers = itertools.count(1)
        self._free: list[tuple[int, AnonymousMemory]] = []
        self._sent: list[tuple[int, AnonymousMemory]] = []
        self._dropped: list[int] = []

    def pack(self, message: object, descriptors: Sequence[int] = (), said: int = 0) -> Parcel:
        """Return *message* as a parcel; it may be sent to several receivers.

        Args:
            message: What to carry.
            descriptors: Open files that go with it.
            said: Notices sent before.

        Raises:
            Exception: Whatever the message's contents raise when they are pickled.
        """
        if (values := light_values(message)) is not None:
            body = pickle.dumps(values, pickle.HIGHEST_PROTOCOL)
            if len(body) <= INLINE_LIMIT:
                return Parcel(HEAD.pack(self._sender, 0, 0, said) + body)
        values = as_values(message)
        large: list[pickle.PickleBuffer] = []
        if self._in_c_order:
            body = _dump(values, large)
        else:
            body = pickle.dumps(
                values, pickle.HIGHEST_PROTOCOL, buffer_callback=lambda b: _stays(b, large)
            )
            if len(body) > INLINE_LIMIT:  # text, or an array that does not lie in one run
                large.clear()
                body = _dump(values, large)
        if not large and len(body) <= INLINE_LIMIT:
            head = HEAD.pack(self._sender, len(descriptors), 0, said)
            return Parcel(head + body, tuple(descriptors))
        return self._in_block([memoryview(body), *(b.raw() for b in large)], descriptors, said)

    def recycle(self, held: Collection[int] = ()) -> None:
        """Use blocks again, but those that a receiver still *held*: they stay with it."""
        if not self._sent:
            return
        for number, block in self._sent:
            if number in held:
                self._drop(number, block)
            else:
                self._free.append((number, block))
        self._sent.clear()

    def forget(self) -> None:
        """Let go of the blocks of what was sent: who receives it has them as long as needed."""
        for number, block in self._sent:
            self._drop(number, block)
        self._sent.clear()

    def close(self) -> None:
        """Let go of all blocks."""
        for _, block in (*self._free, *self._sent):
            block.close()
        self._free.clear()
        self._sent.clear()

    def _in_block(
        self, contents: list[memoryview], descriptors: Sequence[int], said: int
    ) -> Parcel:
        sizes = np.array([content.nbytes for content in contents], np.uint64)
        laid = [sizes.data, *contents]
        number, block, is_new = self._take(sum(aligned(content.nbytes) for content in laid))
        offset = 0
        target = np.frombuffer(block.mapping, np.uint8)
        for content in laid:
            copy_bytes(target[offset:], content)
            offset += aligned(content.nbytes)
        self._sent.append((number, block))
        directory = pickle.dumps((number, block.size, is_new, len(contents), self._dropped))
        self._dropped = []
        attached = (block.descriptor, *descriptors) if is_new else tuple(descriptors)
        return Parcel(HEAD.pack(self._sender, len(attached), 1, said) + directory, attached)

    def _take(self, size: int) -> tuple[int, AnonymousMemory, bool]:
        for index, (number, block) in enumerate(self._free):
            if block.size >= size:
                del self._free[index]
                return number, block, False
        for number, block in self._free:
            self._drop(number, block)
        self._free.clear()
        page = mmap.PAGESIZE
        rounded = -(-size // page) * page
        return next(self._numbers), AnonymousMemory.create("reactor-parcel", rounded), True

    def _drop(self, number: int, block: AnonymousMemory) -> None:
        block.close()
        self._dropped.append(number)


class ParcelReader:
    """Makes messages of parcels.

    Args:
        shares: Whether large arrays stay in the block, as private writable views (``held`` says
            which blocks are in use); else they are copies of their own.
    """

    def __init__(self, *, shares: bool) -> None:
        self._shares = shares
        self._files: dict[int, tuple[int, int]] = {}
        self._mappings: dict[int, mmap.mmap] = {}
        self._copies = WarmCopies()
        self._views: list[tuple[int, weakref.ref[mmap.mmap]]] = []

    def unpack(self, parcel: Parcel) -> tuple[Any, tuple[int, ...]]:
        """Return the message and the descriptors that are its own."""
        data, own = parcel
        body = data[_BODY_AT:]
        if data[_FORM_AT] == 0:
            return _load(body), own
        number, size, is_new, count, dropped = pickle.loads(body)
        for old in dropped:
            self._forget(old)
        if is_new:
            self._adopt(number, own[0], size)
            own = own[1:]
        first, *large = self._contents(number, count)
        return _load(bytes(first), large), own

    def held(self) -> tuple[int, ...]:
        """Return the blocks that arrays of earlier messages still lie in."""
        if not self._views:
            return ()
        self._views = [(number, view) for number, view in self._views if view() is not None]
        return tuple({number for number, _ in self._views})

    def close(self) -> None:
        """Let go of all blocks; arrays that lie in them stay whole."""
        for number in [*self._files, *self._mappings]:
            self._forget(number)

    def _adopt(self, number: int, descriptor: int, size: int) -> None:
        if self._shares:
            self._files[number] = (descriptor, size)
        else:
            self._mappings[number] = map_shared(descriptor, size)
            os.close(descriptor)

    def _forget(self, number: int) -> None:
        self._mappings.pop(number, None)
        if number in self._files:
            os.close(self._files.pop(number)[0])

    def _contents(self, number: int, count: int) -> list[Any]:
        if self._shares:
            mapping = map_private(*self._files[number])
            self._views.append((number, weakref.ref(mapping)))
        else:
            mapping = self._mappings[number]
        parts: list[Any] = []
        sizes = np.frombuffer(mapping, np.uint64, count).tolist()
        offset = aligned(8 * count)
        for size in sizes:
            part = memoryview(mapping)[offset : offset + size]
            copied = parts and not self._shares
            parts.append(self._copies.of(part) if copied else part)
            offset += aligned(size)
        return parts
