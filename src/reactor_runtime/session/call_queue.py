"""CallQueue: the unanswered commands of one client, in order of arrival."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from reactor_runtime.session.client import Client
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.token_bucket import TokenBucket


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One admitted command.

    Attributes:
        call_id: What the host's answer carries.
        client: Who called.
        request_id: What the client's answer carries.
        name: The command.
        arguments: Normalised and validated.
        size_bytes: Size of the frame it came in.
        arrived_at: Monotonic seconds.
    """

    call_id: int
    client: Client = field(compare=False)
    request_id: str
    name: str
    arguments: Mapping[str, Any] = field(compare=False)
    size_bytes: int
    arrived_at: float


class CallQueue:
    """Holds what one client waits for. A call is *held* here until it is posted to the host.

    Args:
        settings: How many calls and bytes it takes, and how fast they are posted.
        now: Monotonic seconds.
    """

    def __init__(self, settings: SessionSettings, now: float) -> None:
        self.bucket = TokenBucket(settings.commands_per_s, settings.command_burst, now)
        self._max_calls, self._max_bytes = settings.max_pending, settings.max_pending_bytes
        self._calls: dict[int, Call] = {}
        self._held: dict[int, Call] = {}
        self._by_name: dict[str, dict[int, None]] = {}
        self._bytes = 0

    def __iter__(self) -> Iterator[Call]:
        return iter(tuple(self._calls.values()))

    def is_full(self, size_bytes: int) -> bool:
        """Whether a call of *size_bytes* does not fit."""
        return len(self._calls) >= self._max_calls or self._bytes + size_bytes > self._max_bytes

    def add(self, call: Call) -> None:
        """Append *call*, held."""
        self._calls[call.call_id] = self._held[call.call_id] = call
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

    def is_held(self, call: Call) -> bool:
        """Whether *call* has not been posted."""
        return call.call_id in self._held

    def oldest_held(self) -> Call | None:
        """Return the next call to post."""
        return next(iter(self._held.values()), None)

    def posted(self, call: Call) -> None:
        """Note that *call* has been posted."""
        del self._held[call.call_id]

    def newest_of(self, name: str) -> Call | None:
        """Return the newest unanswered call of command *name*."""
        newest = next(reversed(self._by_name.get(name, {})), None)
        return None if newest is None else self._calls[newest]

    def oldest_of(self, name: str, most: int) -> list[Call]:
        """Return the oldest unanswered calls of command *name*, at most *most* of them."""
        ids = self._by_name.get(name, {})
        return [self._calls[call_id] for call_id, _ in zip(ids, range(most), strict=False)]
