"""FakeClient: a viewer without a network, driven by ordinary function calls."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from reactor_runtime.errors import ClientGoneError, CommandError, FrameError
from reactor_runtime.model.input_buffer import InputFrame
from reactor_runtime.model.uploaded_file import UploadedFile
from reactor_runtime.testing.bench import Bench
from reactor_runtime.testing.client_connection import ClientConnection
from reactor_runtime.testing.client_inbox import Answer
from reactor_runtime.testing.log_capture import LogCapture
from reactor_runtime.testing.loop_thread import LoopThread
from reactor_runtime.testing.received import Failure, Frame, Message
from reactor_runtime.wire import messages as say

T = TypeVar("T")


class FakeClient:
    """One client of a model under test; ``ModelHarness.connect`` makes it.

    It speaks to the real session, as a browser would. Every wait has a deadline, in seconds of the
    machine's time: that of the harness unless *timeout* is given.
    """

    def __init__(self, bench: Bench, loop: LoopThread, connection: ClientConnection) -> None:
        self._bench, self._loop, self._connection = bench, loop, connection

    @property
    def id(self) -> str:
        """The id that the model sees in ``ClientInfo.id``."""
        return self._connection.client_id

    @property
    def is_connected(self) -> bool:
        """Whether neither side has closed the connection."""
        return not self._connection.is_closed

    @property
    def messages(self) -> list[Message]:
        """Every message received so far, read or not; answers to commands are not among them."""
        return [*self._connection.inbox.messages]

    @property
    def errors(self) -> list[Failure]:
        """Every failure of the session that it was told of so far."""
        return [Failure(each.code, each.message) for each in self._connection.inbox.failures]

    # --- commands ---

    def send(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> Message | None:
        """Call a command and wait for its answer: a message, or ``None`` for an acknowledgement.

        No step begins meanwhile; what the command changes shows in the next frames.

        Raises:
            CommandError: It was refused, with the code and text a client gets. Where the handler
                raised, its exception is the cause.
            ClientGoneError: The client is not connected.
            WaitTimeoutError: There was no answer.
        """
        __tracebackhide__ = True
        return self.post(name, arguments).result(timeout)

    def post(self, name: str, arguments: Mapping[str, Any] | None = None) -> "PendingReply":
        """Call a command without waiting; ``result()`` of what is returned is the answer.

        An ``UploadedFile`` among the arguments is uploaded first.

        Raises:
            ClientGoneError: The client is not connected.
            ValueError: An argument has no form on the wire.
            TypeError: The arguments have no names.
        """
        __tracebackhide__ = True
        if not isinstance(arguments, Mapping | None):
            raise TypeError(f"{name}: the arguments go by name, as in {{'text': …}}: {arguments!r}")
        what, log = f"answer to {name}", self._bench.log

        async def call() -> str:
            require(self._bench, self._connection, what)
            return await self._connection.call(name, arguments or {})

        errors, request_id = log.errors, self._loop.call(call())

        def wait(timeout: float | None) -> Answer:
            answers: Mapping[str, Any] = self._connection.inbox.answers
            answer: Answer = self._wait(
                what, lambda: answers.get(request_id), timeout, answers_only=True
            )
            return answer

        return PendingReply(wait, log, errors)

    def upload(self, file: UploadedFile) -> None:
        """Send a file and say so, as for ``@file_uploaded``; commands send theirs by themselves.

        Raises:
            UploadRefusedError: What is said of it cannot be right.
            UploadLimitError: It is too large.
            ClientGoneError: The client is not connected.
        """
        __tracebackhide__ = True

        async def send() -> None:
            require(self._bench, self._connection, f"place for the file {file.name}")
            self._connection.announce(await self._connection.upload(file))

        self._loop.call(send())

    # --- what comes in ---

    def frames(self, track: str, count: int = 1, *, timeout: float | None = None) -> list[Frame]:
        """Return the next *count* frames of an output track, letting the model make them.

        Frames come in order and each once; those of other tracks, and of other clients, wait.

        Raises:
            TrackError: There is no such output track.
            ClientGoneError: The session ended first, or the client is not connected.
            WaitTimeoutError: They did not come.
        """
        __tracebackhide__ = True
        inbox = self._connection.inbox
        what = f"frame of {track}" if count == 1 else f"{count} frames of {track}"
        return self._wait(what, lambda: inbox.next_frames(track, count), timeout)

    def message(self, name: str | None = None, *, timeout: float | None = None) -> Message:
        """Return the next unread message of that *name*, or of any, letting the model run.

        Raises:
            ClientGoneError: The session ended first, or the client is not connected.
            WaitTimeoutError: None came.
        """
        __tracebackhide__ = True
        inbox = self._connection.inbox
        what = f"message {name}" if name else "message"
        return self._wait(what, lambda: inbox.next_message(name), timeout)

    def error(self, *, timeout: float | None = None) -> Failure:
        """Return the failure of its session, letting the model run until there is one.

        Raises:
            ClientGoneError: The session ended without one.
            WaitTimeoutError: There was none.
        """
        __tracebackhide__ = True

        def failure() -> Failure | None:
            self._bench.take_failure()
            return self.errors[-1] if self.errors else None

        return self._wait("failure of the session", failure, timeout)

    # --- what goes out ---

    def push_frame(
        self,
        track: str,
        data: ArrayLike,
        *,
        metadata: Any = None,
        capture_time_us: int | None = None,
    ) -> None:
        """Send one frame of an input track, which is published with the first one.

        Args:
            track: The input track.
            data: uint8 RGB ``(H, W, 3)``, or int16 ``(channels, samples)``.
            metadata: What the model sees as the frame's metadata.
            capture_time_us: When it was captured; the session's time unless given.

        Raises:
            CommandError: There is no such input track, or another client publishes it.
            FrameError: *data* is no frame.
            ClientGoneError: The client is not connected.
        """
        __tracebackhide__ = True
        array = _frame_of(track, data)

        def push() -> None:
            require(self._bench, self._connection, f"place for a frame of {track}")
            parts = self._bench.parts
            now_us = round((parts.clock.now() - parts.stream.began) * 1e6)
            at_us = now_us if capture_time_us is None else capture_time_us
            frame = InputFrame(array, metadata=metadata, capture_time_us=at_us)
            self._connection.feed(track, frame)

        self._loop.do(push)

    def pause(self, track: str) -> None:
        """Want the frames of an output track no more, until ``resume``."""
        self._loop.do(lambda: self._connection.pause(track))

    def resume(self, track: str) -> None:
        """Want the frames of an output track again."""
        self._loop.do(lambda: self._connection.resume(track))

    def disconnect(self) -> None:
        """Leave. Idempotent."""
        self._loop.do(lambda: self._connection.vanish("it left"))

    # --- parts of the above ---

    def _wait(
        self,
        waited_for: str,
        found: Callable[[], T | None],
        timeout: float | None,
        *,
        answers_only: bool = False,
    ) -> T:
        __tracebackhide__ = True

        def found_or_gone() -> T | None:
            result = found()
            if result is None:
                require(self._bench, self._connection, waited_for)
            return result

        return self._loop.call(
            self._bench.wait(waited_for, found_or_gone, timeout, answers_only=answers_only)
        )


class PendingReply:
    """A command that was sent.

    Args:
        wait: Waits for its answer, so many seconds.
        log: What is logged meanwhile.
        errors: How many exceptions had been logged when it was sent.
    """

    def __init__(
        self, wait: Callable[[float | None], Answer], log: LogCapture, errors: int
    ) -> None:
        self._wait, self._log, self._errors = wait, log, errors

    def result(self, timeout: float | None = None) -> Message | None:
        """Wait for the answer; returns and raises what ``FakeClient.send`` does."""
        __tracebackhide__ = True
        answer = self._wait(timeout)
        if isinstance(answer, say.Failure):
            is_ours = answer.code == "internal_error" and self._log.errors > self._errors
            cause = self._log.error if is_ours else None
            raise CommandError(answer.code, answer.message) from cause
        return Message(answer.name, answer.body) if isinstance(answer, say.Message) else None


def require(bench: Bench, connection: ClientConnection, waited_for: str) -> None:
    """Check that a client is connected.

    Raises:
        ClientGoneError: It is not; where the model failed, what it raised is the cause.
    """
    ending = connection.inbox.ending
    if ending is not None:
        failure = bench.take_failure()
        reason = f"{ending}: {failure}" if failure else ending
        error = ClientGoneError(connection.client_id, waited_for, reason, bench.describe())
        raise error from bench.log.error if failure else None


def _frame_of(track: str, data: ArrayLike) -> np.ndarray[Any, Any]:
    array = np.array(data)
    is_picture = array.dtype == np.uint8 and array.ndim == 3 and array.shape[2] == 3
    is_sound = array.dtype == np.int16 and array.ndim == 2
    if not (is_picture or is_sound):
        wanted = "wanted uint8 (H, W, 3), or int16 (channels, samples)"
        raise FrameError(track, wanted, array.shape, str(array.dtype))
    return array
