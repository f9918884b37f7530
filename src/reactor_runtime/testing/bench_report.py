"""What a failed wait says: the session, the clients, the log, and where the model is."""

from collections.abc import Iterator, Mapping, Sequence

from reactor_runtime.testing.bench_parts import BenchParts
from reactor_runtime.testing.client_connection import ClientConnection
from reactor_runtime.testing.log_capture import LogCapture

_MOST_LINES = 20  # of the log, and of each stack
_MOST_NAMES = 8


def describe(
    parts: BenchParts,
    clients: Sequence[ClientConnection],
    log: LogCapture,
    stacks: Mapping[str, str],
) -> str:
    """Return what was seen, one fact a line.

    Args:
        parts: The model's surroundings.
        clients: Every client that ever connected.
        log: What was logged.
        stacks: Where the model is, by thread or rank.
    """
    lines = [_session(parts), *map(_client, clients)]
    for failure in parts.outlet.failures:
        lines.append(f"failure: {failure.message} ({failure.kind})")
    lines += _block("log", log.text().splitlines())
    for name, stack in stacks.items():
        places = stack.splitlines()
        is_newest_first = any("most recent call first" in line for line in places[:3])
        shown = places[:_MOST_LINES] if is_newest_first else places[-_MOST_LINES:]
        lines += _block(f"{name} is at", shown)
    return "\n".join(f"  {line}" for line in lines)


def _session(parts: BenchParts) -> str:
    done = len(parts.outlet.steps)
    running = ", one is running" if parts.turn.is_stepping else ""
    at_s = parts.clock.now() - parts.stream.began
    return f"session: {parts.session.state} at {at_s:.3f} s, {done} steps done{running}"


def _client(client: ClientConnection) -> str:
    inbox = client.inbox
    frames = [f"{count} of {track}" for track, count in inbox.unread_frames().items()]
    told = [f"unread frames {', '.join(frames)}"] if frames else []
    if inbox.messages:
        names = [message.name for message in inbox.messages[-_MOST_NAMES:]]
        told.append(f"{len(inbox.messages)} messages, at last {', '.join(names)}")
    told += [f"told: {failure.message}" for failure in inbox.failures]
    if inbox.ending is not None:
        told.append(f"gone: {inbox.ending}")
    return f"{client.client_id}: {'; '.join(told) or 'has received nothing'}"


def _block(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
        yield from (f"  {line}" for line in lines[-_MOST_LINES:])
