"""Stage: where what an offline run shows and says goes; on the leader into a film."""

from collections.abc import Sequence

from reactor_runtime.distributed.call_result import CallResult
from reactor_runtime.errors import OfflineRunError
from reactor_runtime.host.chunk_assembly import assemble, outputs_of, place_of
from reactor_runtime.host.host_outlet import CommandReply, OutboundMessage
from reactor_runtime.host.model_driver import log_at_once
from reactor_runtime.host.rank_messages import (
    AuthorFailed,
    Flushed,
    Paced,
    Place,
    Report,
    Said,
    SessionFailed,
)
from reactor_runtime.host.rank_report_teller import restored
from reactor_runtime.media.film import Film


class Stage:
    """One run's. The film's time is the run's time: computing takes none.

    Args:
        film: Where frames go; ``None`` on ranks that do not lead.
        fps: The rate while the model pins none.

    Attributes:
        turn: The turn that runs, ``None`` before the first.
        messages: What the model said, in order.
    """

    def __init__(self, film: Film | None, fps: float) -> None:
        self.turn: int | None = None
        self.messages: list[OutboundMessage] = []
        self._film, self._fps = film, fps
        self._flushed_until: Place = (0, 0)
        self._hook_error: BaseException | None = None

    @property
    def seconds(self) -> float:
        """The run's time, on the leader."""
        return self._film.seconds if self._film is not None else 0.0

    def hear(self, notice: object) -> None:
        """Take note of what the leader says beside its answers."""
        match notice:
            case Said():
                self.messages.append(notice.message)
            case Flushed():
                self._flushed_until = max(self._flushed_until, notice.until)
            case Paced():
                self._fps = notice.fps

    def pass_time(self, seconds: float) -> None:
        """Let time pass in which nothing is shown."""
        if self._film is not None:
            self._film.hold(seconds)

    def show(self, result: CallResult) -> None:
        """Show what the ranks emitted in one verb.

        Raises:
            RankDesync: The ranks' Outputs do not belong together.
            FrameError: The parts do not make a whole picture.
        """
        if self._film is None:
            return
        for emitted in outputs_of(result):
            if place_of(emitted) < self._flushed_until:
                continue
            chunk = assemble(emitted, result, started_at=0.0, compute_s=0.0, pinned_fps=None)
            if chunk is not None:
                self._film.write(chunk, self._fps)

    def heed(self, reports: Sequence[Report]) -> None:
        """Raise what makes the run a failure.

        Raises:
            Exception: The author's own, that ended the session.
            OfflineRunError: A command was refused.
        """
        for report in reports:
            match report:
                case AuthorFailed():
                    self._hook_error = restored(report.error)
                    log_at_once(report.event, self._hook_error, report.fields)
                case SessionFailed():
                    raise restored(report.error)
                case CommandReply() if report.error_code is not None:
                    words = f"a command was refused: {report.error_code}: {report.error_message}"
                    raise OfflineRunError(self.turn, words) from self._hook_error
                case CommandReply() if report.message_name is not None:
                    self.messages.append(
                        OutboundMessage(
                            name=report.message_name,
                            body=report.message_body or {},
                            client_id=report.client_id,
                        )
                    )
