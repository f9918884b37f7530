"""MediaDecoder: a thread that decodes one inbound track and never falls behind for long."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable

import av

from reactor_runtime.log import get_logger
from reactor_runtime.loop_calls import call_soon
from reactor_runtime.webrtc.frame_decoders import DecodedInput, EncodedInput, FrameDecoder

log = get_logger(__name__)
_STOP_S = 1.0


class MediaDecoder:
    """Takes encoded frames on the event loop and delivers decoded ones there.

    A life of its own: ``start``, then ``stop``, once each.

    Nothing in it grows: when *capacity* encoded frames wait, all are dropped and only a key frame
    helps; of decoded ones, the newest *keep* wait for the loop. Pictures that are outdated before
    they are converted are not converted.

    Attributes:
        dropped: Frames dropped anywhere in here.
    """

    def __init__(
        self,
        decoder: FrameDecoder,
        deliver: Callable[[DecodedInput], None],
        on_broken: Callable[[], None],
        *,
        capacity: int,
        keep: int,
    ) -> None:
        self._decoder, self._deliver, self._on_broken = decoder, deliver, on_broken
        self._loop = asyncio.get_running_loop()
        self._arrived = threading.Condition()
        # One place more than there may be frames: for the None that ends the thread.
        self._waiting: deque[EncodedInput | None] = deque(maxlen=capacity + 1)
        self._decoded: deque[DecodedInput] = deque(maxlen=keep)
        self._stopped = asyncio.Event()
        self.dropped = 0
        self._thread = threading.Thread(target=self._run, name="inbound-decoder", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def put(self, frame: EncodedInput) -> bool:
        """Queue *frame*; ``False`` when the decoder is so far behind that it must start anew."""
        if not frame.data:  # FFmpeg would take it for the end of the stream, and nothing after it
            return True
        with self._arrived:
            if len(self._waiting) + 1 == self._waiting.maxlen:
                self.dropped += len(self._waiting) + 1
                self._waiting.clear()
                return False
            self._waiting.append(frame)
            self._arrived.notify()
        return True

    async def stop(self) -> None:
        """End the thread, within a bound. Idempotent."""
        with self._arrived:
            self._waiting.clear()
            self._waiting.append(None)
            self._arrived.notify()
        try:
            async with asyncio.timeout(_STOP_S):
                await self._stopped.wait()
        except TimeoutError:
            log.warning("inbound_decoder_stuck")
            return
        self._thread.join(_STOP_S)

    def _run(self) -> None:
        while (frame := self._next()) is not None:
            try:
                for decoded in self._decoder.decode(frame, self._is_outdated):
                    self._hand_over(decoded)
            except (av.FFmpegError, ValueError) as error:
                log.debug("inbound_frame_broken", error=type(error).__name__)
                call_soon(self._loop, self._on_broken)
        call_soon(self._loop, self._stopped.set)

    def _next(self) -> EncodedInput | None:
        with self._arrived:
            while not self._waiting:
                self._arrived.wait()
            return self._waiting.popleft()

    def _is_outdated(self) -> bool:
        """Whether newer frames wait already."""
        return bool(self._waiting)

    def _hand_over(self, decoded: DecodedInput | None) -> None:
        if decoded is None:
            self.dropped += 1
            return
        with self._arrived:
            is_first = not self._decoded
            self.dropped += len(self._decoded) == self._decoded.maxlen
            self._decoded.append(decoded)
        if is_first:
            call_soon(self._loop, self._deliver_all)

    def _deliver_all(self) -> None:
        with self._arrived:
            ready = list(self._decoded)
            self._decoded.clear()
        for decoded in ready:
            self._deliver(decoded)
