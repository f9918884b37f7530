"""CallQueue: what one client waits for, and what is still to be posted to the host for it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from reactor_runtime.host.events import ModelEvent
from reactor_runtime.session.client import Client
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.token_bucket import TokenBucket


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One admitted command.

    Attributes:
        call_id: What the host's answer carries.
        client: Who called.
        request_id: What the client's answer carries.
        name: The command.
        size_bytes: Size of the frame it came in.
        arrived_at: Monotonic seconds.
    """

    call_id: int
    client: Client = field(compare=False)
    request_id: str
    name: str
    size_bytes: int
    arrived_at: float


class CallQueue:
    """Holds the unanswered commands of one client, in order of arrival.

    What has not been posted to the host is *held*: an event, or the place of one that cannot be
    made yet. Events leave in order, so that whatever comes after such a place waits with it.

    Args:
        settings: How many calls and bytes it takes, and how fast they are posted.
        now: Monotonic seconds.
    """

    def __init__(self, settings: SessionSettings, now: float) -> None:
        self.bucket = TokenBucket(settings.commands_per_s, settings.command_burst, now)
        self._max_calls, self._max_bytes = settings.max_pending, settings.max_pending_bytes
        self._calls: dict[int, Call] = {}
        self._held: dict[int, ModelEvent | None] = {}
        self._by_name: dict[str, dict[int, None]] = {}
        self._bytes = 0

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls.values()))

    @property
    def awaits_answers(self) -> bool:
        """Whether a call of its client is unanswered."""
        return bool(self._calls)

    def is_full(self, size_bytes: int) -> bool:
        """Whether a call of *size_bytes* does not fit."""
        return len(self._calls) >= self._max_calls or self._bytes + size_bytes > self._max_bytes

    def hold(self, number: int, event: ModelEvent | None) -> None:
        """Append *event* under a number, or an empty place for it."""
        self._held[number] = event

    def fill(self, number: int, event: ModelEvent | None) -> None:
        """Put *event* into its place, or give the place up; nothing happens where it is gone."""
        if event is None:
            self._held.pop(number, None)
        elif number in self._held:
            self._held[number] = event

    def add(self, call: Call, event: ModelEvent | None) -> None:
        """Append *call*, held as *event*."""
        self.hold(call.call_id, event)
        self._calls[call.call_id] = call
        self._by_name.setdefault(call.name, {})[call.call_id] = None
        self._bytes += call.size_bytes

    def remove(self, call: Call) -> None:
        """Forget *call*."""
        if self._calls.pop(call.call_id, None) is None:
            return
        self._held.pop(call.call_id, None)
        self._bytes -= call.size_bytes
        named = self._by_name[call.name]
        del named[call.call_id]
        if not named:
            del self._by_name[call.name]

    def is_held(self, number: int) -> bool:
        """Whether something under *number* has not been posted."""
        return number in self._held

    @property
    def has_next(self) -> bool:
        """Whether there is an event to post now."""
        return next(iter(self._held.values()), None) is not None

    def take_next(self) -> ModelEvent | None:
        """Take the event that is to be posted now, if there is one."""
        number, event = next(iter(self._held.items()), (0, None))
        if event is not None:
            del self._held[number]
        return event

    def take_rest(self) -> list[ModelEvent]:
        """Take every event that is held, in order, and give up the places that are empty."""
        rest = [event for event in self._held.values() if event is not None]
        self._held.clear()
        return rest

    def newest_of(self, name: str) -> Call | None:
        """Return the newest unanswered call of command *name*."""
        newest = next(reversed(self._by_name.get(name, {})), None)
        return None if newest is None else self._calls[newest]

    def oldest_of(self, name: str, most: int) -> list[Call]:
        """Return the oldest unanswered calls of command *name*, at most *most* of them."""
        ids = self._by_name.get(name, {})
        return [self._calls[call_id] for call_id, _ in zip(ids, range(most), strict=False)]
