"""What group and ranks say to each other, by direction. Frozen values, pickled.

One call is a ``Call`` to every rank and one ``Reply`` or ``Failure`` from each. In between there
may be any number of ``Notice``, a round of ``Suspended`` and ``Resume``, and one of ``Place``.
``SlotNews`` comes before what needs it: contents that cannot be read take nothing else with them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from reactor_runtime.distributed.frame_parts import NeedsRoom, Part, SlotGrant
from reactor_runtime.world import World

if TYPE_CHECKING:
    from reactor_runtime.distributed.class_reference import ClassReference
    from reactor_runtime.distributed.process_group import GroupMembership
    from reactor_runtime.distributed.verbs import Verb

# --- group to rank ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The first message: who the rank is and what it runs.

    Attributes:
        world: Its place in the group.
        worker: Where the worker's class is found.
        folders: The parent's import path.
        working_folder: The parent's current folder.
        membership: How to join the process group; ``None`` for no group.
        log_level: The least important log lines wanted.
    """

    world: World
    worker: "ClassReference"
    folders: tuple[str, ...]
    working_folder: str
    membership: "GroupMembership | None"
    log_level: str


@dataclass(frozen=True, slots=True)
class SlotNews:
    """Frames go into other slots from now on; nobody answers.

    Attributes:
        grants: Slots that are new; their descriptors come with the message, in order.
        gone: Slots that will not be used again.
    """

    grants: tuple[SlotGrant, ...]
    gone: tuple[int, ...]


class Call(NamedTuple):
    """Do a verb.

    Attributes:
        number: Counts calls; replies bear it.
        kind: The verb's class: its number, and beside it the class until all ranks know it.
        values: The verb's fields.
        slot: Where frames go, ``None`` while there is no place.
    """

    number: int
    kind: "int | tuple[int, type[Verb]]"
    values: tuple[Any, ...]
    slot: int | None = None


class Resume(NamedTuple):
    """Go on with a suspended verb.

    Attributes:
        number: The call's.
        payload: What the verb waited for.
    """

    number: int
    payload: Any


@dataclass(frozen=True, slots=True)
class Place:
    """Write what waits for room; the second round of a call.

    Attributes:
        number: The call's.
        slot: The larger slot.
        takes_offers_of: The rank whose offered pixels are wanted, ``None`` for nobody's.
    """

    number: int
    slot: int
    takes_offers_of: int | None = None


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave the process group and end."""


# --- rank to group ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reached:
    """A step of the start is behind the rank: it is in *phase* now."""

    phase: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The worker is constructed and waits for its first call."""


class Reply(NamedTuple):
    """A verb, or its second round, is done.

    Attributes:
        number: The call's.
        payload: What the verb returned.
        parts: What was written into the slot.
        needs: What waits for room.
        held: Parcel blocks that arrays of earlier calls still lie in.
        compute_s: Seconds the verb took.
    """

    number: int
    payload: Any
    parts: tuple[Part, ...] = ()
    needs: tuple[NeedsRoom, ...] = ()
    held: tuple[int, ...] = ()
    compute_s: float = 0.0


class Suspended(NamedTuple):
    """The verb waits for a ``Resume``.

    Attributes:
        number: The call's.
        payload: What it waits for, in its own terms.
    """

    number: int
    payload: Any


class Notice(NamedTuple):
    """Something a rank says in or between calls, in the order it was said."""

    payload: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The verb, or the start, raised.

    Attributes:
        phase: What the rank was doing.
        kind: Name of the exception's type.
        message: Its text.
        traceback: Its traceback as text.
        pickled: The exception itself, ``None`` where it cannot be carried.
        left_behind: Why it cannot be carried.
        is_collective: Whether a collective raised it: likely the echo of another rank's failure.
        made: What the verb had made before, as the reply it did not come to; mostly ``None``.
    """

    phase: str
    kind: str
    message: str
    traceback: str
    pickled: bytes | None = None
    left_behind: str = ""
    is_collective: bool = False
    made: Reply | None = None


ToRank = Launch | SlotNews | Call | Resume | Place | Exit
FromRank = Reached | Ready | Reply | Suspended | Notice | Failure


# --- as they are pickled ---------------------------------------------------------------------

# The messages of every call travel as plain tuples, their number first, and so do the parts in a
# reply: that takes a third of the time of a class that pickle has to look up.
_HOT: tuple[type[Any], ...] = (Call, Reply, Resume, Suspended, Notice)
_NUMBERS = {kind: number for number, kind in enumerate(_HOT)}
_REPLY = _NUMBERS[Reply]
_PARTS_AT = 1 + Reply._fields.index("parts")

_part = partial(tuple.__new__, Part)  # a named tuple's own way is a call of Python more

_LIGHT = frozenset({type(None), bool, int, float, str})


def light_values(message: object) -> object | None:
    """Return ``as_values`` of a reply whose contents need no care; else ``None``."""
    if type(message) is Reply and type(message.payload) in _LIGHT:
        return as_values(message)
    return None


def as_values(message: Any) -> object:
    """Return what stands for *message* in a pickle."""
    number = _NUMBERS.get(type(message))
    values = message if number is None else (number, *message)
    return _with_parts(values, tuple) if number == _REPLY and message.parts else values


def from_values(found: Any) -> Any:
    """Return the message that *found* stands for; see ``as_values``."""
    if type(found) is not tuple:
        return found
    if found[0] == _REPLY and found[_PARTS_AT]:
        found = _with_parts(found, _part)
    return tuple.__new__(_HOT[found[0]], found[1:])


def _with_parts(values: tuple[Any, ...], make: Callable[[tuple[Any, ...]], Any]) -> Any:
    """Return the *values* of a reply, with each of its parts made anew."""
    parts = tuple([make(part) for part in values[_PARTS_AT]])
    return (*values[:_PARTS_AT], parts, *values[_PARTS_AT + 1 :])
