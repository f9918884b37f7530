"""ClientInbox: what one fake client has received, and what of it a test has not read yet."""

from collections import deque
from collections.abc import Callable, Iterable

from reactor_runtime.errors import TrackError
from reactor_runtime.testing.received import Frame, Message
from reactor_runtime.wire import messages as say

_MOST_UNREAD_BYTES = 512 * 1024 * 1024

Answer = say.Message | say.Acknowledgement | say.Failure | say.ControlFailure | say.PublishGranted


class ClientInbox:
    """Used on the test's loop.

    Args:
        tracks: The model's output tracks.
        on_news: Called whenever something has come.

    Attributes:
        messages: Every message that answers nothing, in order.
        failures: Every failure of the session it was told of.
        answers: Request id to answer.
        ending: Why the connection ended; ``None`` while it lives.
    """

    def __init__(self, tracks: Iterable[str], on_news: Callable[[], None]) -> None:
        self.messages: list[Message] = []
        self.failures: list[say.Failure] = []
        self.answers: dict[str, Answer] = {}
        self.ending: str | None = None
        self._unread: deque[Message] = deque()
        self._frames = {track: _UnreadFrames(track) for track in tracks}
        self._on_news = on_news

    def take_in(self, message: say.ServerMessage | None) -> None:
        """Keep what the server said."""
        match message:
            case say.SessionEnded():
                self.end(f"the session ended: {message.reason}")
            case say.Moderation():
                self.end(f"moderated: {message.message}")
            case say.Failure(request_id="", code="session_ended"):
                pass  # no failure: it says what the notice after it says
            case say.Failure(request_id=""):
                self.failures.append(message)
            case say.Message(request_id=""):
                received = Message(message.name, message.body)
                self.messages.append(received)
                self._unread.append(received)
            case (
                say.Message()
                | say.Acknowledgement()
                | say.Failure()
                | say.ControlFailure()
                | say.PublishGranted()
            ):
                self.answers[message.request_id] = message
        self._on_news()

    def show(self, frame: Frame) -> None:
        """Keep a frame."""
        self._frames[frame.track].append(frame)

    def end(self, reason: str) -> None:
        """Note that the connection is gone; the first reason stands."""
        if self.ending is None:
            self.ending = reason
        self._on_news()

    def next_message(self, name: str | None) -> Message | None:
        """Remove and return the oldest unread message of that *name*, or of any."""
        found = next((m for m in self._unread if name in (None, m.name)), None)
        if found is not None:
            self._unread.remove(found)
        return found

    def next_frames(self, track: str, count: int) -> list[Frame] | None:
        """Remove and return the oldest *count* unread frames of *track*, if there are so many.

        Raises:
            TrackError: There is no such output track, or frames were lost because nobody read them.
        """
        if track not in self._frames:
            known = ", ".join(self._frames) or "none"
            raise TrackError(track, f"no such output track; there are: {known}")
        return self._frames[track].take(count)

    def unread_frames(self) -> dict[str, int]:
        """Return how many frames of each track wait to be read."""
        return {track: len(unread) for track, unread in self._frames.items()}


class _UnreadFrames:
    """Frames of one track, up to a bound on their memory."""

    def __init__(self, track: str) -> None:
        self._track = track
        self._frames: deque[Frame] = deque()
        self._size_bytes = self._lost = 0

    def __len__(self) -> int:
        return len(self._frames)

    def append(self, frame: Frame) -> None:
        self._frames.append(frame)
        self._size_bytes += frame.data.nbytes
        while self._size_bytes > _MOST_UNREAD_BYTES and len(self._frames) > 1:
            self._size_bytes -= self._frames.popleft().data.nbytes
            self._lost += 1

    def take(self, count: int) -> list[Frame] | None:
        if self._lost:
            lost, self._lost = self._lost, 0
            raise TrackError(
                self._track, f"{lost} frames were dropped unread: read them, or pause the track"
            )
        if len(self._frames) < count:
            return None
        taken = [self._frames.popleft() for _ in range(count)]
        self._size_bytes -= sum(frame.data.nbytes for frame in taken)
        return taken
