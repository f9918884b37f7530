"""ServedModel: a model's class and everything made for it, joined.

Importing this module loads media. WebRTC, as much again, is loaded by ``join_network``: beside
the model's own loading, and not before it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reactor_runtime.clock import FOR_EVER_S, Clock
from reactor_runtime.errors import SettingError
from reactor_runtime.host.host_outlet import HostOutlet, StepReport
from reactor_runtime.host.host_settings import HostSettings, OnFailure
from reactor_runtime.host.in_process_host import InProcessHost
from reactor_runtime.host.model_host import ModelHost
from reactor_runtime.host.pool_settings import PoolSettings
from reactor_runtime.log import get_logger
from reactor_runtime.media.live_stream import LiveStream
from reactor_runtime.media.media_settings import MediaSettings
from reactor_runtime.metrics import Metrics
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.pace import class_buffer_frames
from reactor_runtime.model.servable import check_servable, doubts
from reactor_runtime.model.tracks import Track, TrackDirection
from reactor_runtime.served_recordings import make_recorder, make_step_results
from reactor_runtime.session.session import Session
from reactor_runtime.session.session_outlet import SessionOutlet
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.settings import ServeSettings
from reactor_runtime.uploads.upload_settings import UploadSettings
from reactor_runtime.webrtc.web_rtc_settings import IceServer, PlayoutDelay, WebRtcSettings
from reactor_runtime.world import World

if TYPE_CHECKING:
    from reactor_runtime.recording.recorder import Recorder
    from reactor_runtime.recording.shelf import Shelf
    from reactor_runtime.recording.step_results import StepResults
    from reactor_runtime.recording.step_shelf import StepShelf
    from reactor_runtime.webrtc.signaling import Signaling

log = get_logger(__name__)

STOP_SHARE = 0.3

_PLAYOUT_DELAYS = {
    "low": PlayoutDelay.ALWAYS,
    "client": PlayoutDelay.NEVER,
    "auto": PlayoutDelay.AUTO,
}


class ServedModel:
    """The parts that live as long as the model.

    Args:
        session: Who is here and what may happen next; owns the host.
        stream: The output media, ``None`` for a model without output tracks.
        tracks: What flows, either way.
        recorder: Who records it, ``None`` for nobody.
        steps: Who keeps the results of its steps, ``None`` for nobody.

    Attributes:
        signaling: From offers to connections; ``None`` until ``join_network``.
    """

    def __init__(
        self,
        session: Session,
        stream: LiveStream | None,
        tracks: Sequence[Track],
        recorder: "Recorder | None" = None,
        steps: "StepResults | None" = None,
    ) -> None:
        self.session = session
        self._recorder, self._steps = recorder, steps
        self.signaling: Signaling | None = None
        self._stream = stream
        self._tracks = tracks
        session.on_session_end = self._close_connections

    async def start(self) -> None:
        """Start the media threads and begin to load the model; returns at once."""
        if self._recorder is not None:
            self._recorder.start(asyncio.get_running_loop(), self._note_segment)
        if self._steps is not None:
            self._steps.start(asyncio.get_running_loop(), self._note_step)
        if self._stream is not None:
            self._stream.start(asyncio.get_running_loop())
        await self.session.start()

    def join_network(self, settings: WebRtcSettings, clock: Clock, metrics: Metrics) -> "Signaling":
        """Make the signalling, on the event loop; its module must be imported by then."""
        from reactor_runtime.webrtc.signaling import Signaling

        self.signaling = Signaling(
            self.session,
            self._stream,
            self._tracks,
            settings=settings,
            clock=clock,
            metrics=metrics,
        )
        return self.signaling

    async def stop(self) -> None:
        """End the session, the model, every connection and the media threads, in this order."""
        await self.session.close()
        await self._close_connections("the server is shutting down")
        if self._stream is not None:
            self._stream.stop()
        if self._recorder is not None:
            self._recorder.stop()
        if self._steps is not None:
            self._steps.stop()

    def _note_segment(self, recording_id: str, number: int) -> None:
        state = self.session.state
        self.session.events.append(
            "chunk_ready", state, state, recording_id=recording_id, idx=number
        )

    def _note_step(self, report: StepReport, is_saved: bool) -> None:
        state, step = self.session.state, report.number
        log_event = self.session.events.append
        log_event("step_completed", state, state, step=step, saved=is_saved, error=report.error)
        if is_saved:
            log_event("step_result_ready", state, state, session=report.session_id, step=step)

    async def _close_connections(self, reason: str) -> None:
        if self.signaling is not None:
            await self.signaling.close_all(reason)


def import_web_rtc() -> None:
    """Load what the first client needs; takes a tenth of a second, on any thread."""
    import reactor_runtime.webrtc.signaling
    import reactor_runtime.wire.protobuf_codec  # noqa: F401


def make_served_model(
    model_class: type[Any],
    settings: ServeSettings,
    clock: Clock,
    metrics: Metrics,
    shelf: "Shelf | None" = None,
    step_shelf: "StepShelf | None" = None,
) -> ServedModel:
    """Return the parts for *model_class*, joined and not started; recorded where there is a shelf.

    Where there is a *step_shelf*, the results of its steps are kept.

    Raises:
        TypeError: The class declares something that cannot be.
        SettingError: Its ``buffer_size`` is no positive whole number, or what is to be recorded is
            no track of it.
    """
    contract = ModelContract.of(model_class)
    check_servable(model_class)
    for doubt in doubts(model_class):
        log.warning("check_the_class", doubt=doubt)
    outputs = [track for track in contract.tracks if track.direction is TrackDirection.OUT]
    stream = recorder = steps = None
    if step_shelf is not None:
        steps = make_step_results(step_shelf, outputs, settings, metrics)
    if outputs:
        media = media_settings(settings, model_class)
        stream = LiveStream(outputs, settings=media, clock=clock, metrics=metrics)
        if shelf is not None:
            recorder = make_recorder(shelf, outputs, settings, clock, metrics)
            stream.give_to(recorder, recorder.tracks)
        if steps is not None:
            stream.converter.on_converted = steps.converted
    if shelf is not None and recorder is None:
        log.warning("nothing_to_record", reason="the model has no output track")
    outlet = SessionOutlet(stream, clock=clock, metrics=metrics, step_keeper=steps)
    # What a step shows is known only when its frames are converted: no other may run meanwhile.
    host = make_host(model_class, settings, outlet, clock, converts_beside=steps is None)
    session = Session(
        host,
        outlet=outlet,
        recorder=recorder,
        settings=session_settings(settings),
        clock=clock,
        metrics=metrics,
    )
    return ServedModel(session, stream, contract.tracks, recorder, steps)


def make_host(
    model_class: type[Any],
    settings: ServeSettings,
    outlet: HostOutlet,
    clock: Clock,
    *,
    converts_beside: bool = True,
) -> ModelHost:
    """Return where the model runs: in this process, or on ranks of its own.

    Args:
        model_class: The model.
        settings: What was asked for.
        outlet: Where the host reports.
        clock: The time.
        converts_beside: As in ``PoolSettings``.

    Raises:
        WorkerGroupRefusedError: The ranks cannot be started like that.
    """
    if settings.isolation == "in_process":
        return InProcessHost(
            model_class,
            outlet=outlet,
            world=World(device=settings.device),
            config_path=settings.config_path,
            clock=clock,
            settings=host_settings(settings),
        )
    from reactor_runtime.host.worker_pool_host import WorkerPoolHost  # not needed in process

    return WorkerPoolHost(
        model_class,
        outlet=outlet,
        pool=replace(pool_settings(settings), converts_beside=converts_beside),
        config_path=settings.config_path,
        clock=clock,
        settings=host_settings(settings),
    )


def media_settings(settings: ServeSettings, model_class: type[Any]) -> MediaSettings:
    """Return what media is told."""
    size = settings.max_resolution
    return MediaSettings(
        bitrate=settings.bitrate,
        max_bitrate=settings.max_bitrate,
        max_fps=settings.max_fps,
        max_width=size.width if size else None,
        max_height=size.height if size else None,
        buffer_frames=buffer_frames(model_class),
    )


def buffer_frames(model_class: type[Any]) -> int | None:
    """Return the author's bound on queued frames, ``None`` without one."""
    try:
        return class_buffer_frames(model_class)
    except ValueError as error:
        source = f"{model_class.__module__}:{model_class.__qualname__}.buffer_size"
        found = repr(model_class.buffer_size)[:60]
        raise SettingError(source, found, "a whole number of frames, at least 1") from error


def stop_share_s(settings: ServeSettings) -> float:
    """Return the seconds that the session's end, and then the host's, may take of the grace."""
    return settings.stop_grace_s * STOP_SHARE if settings.stop_grace_s > 0 else FOR_EVER_S


def host_settings(settings: ServeSettings) -> HostSettings:
    """Return what the host is told."""
    return HostSettings(
        turn_timeout_s=settings.turn_timeout_s,
        first_turn_timeout_s=settings.first_turn_timeout_s,
        stop_timeout_s=stop_share_s(settings),
        on_failure=OnFailure(settings.on_failure),
    )


def pool_settings(settings: ServeSettings) -> PoolSettings:
    """Return which ranks are started."""
    return PoolSettings(
        world_size=settings.world_size,
        device=settings.device,
        comm_backend=settings.comm_backend,
        init_process_group=settings.init_process_group,
        oversubscribe=settings.oversubscribe,
        check_lockstep=settings.check_lockstep,
        load_timeout_s=settings.load_timeout_s,
        settle_timeout_s=settings.settle_timeout_s,
        comm_timeout_s=settings.comm_timeout_s,
    )


def session_settings(settings: ServeSettings) -> SessionSettings:
    """Return what the session is told."""
    return SessionSettings(
        model_name=settings.name,
        model_version=settings.version,
        model_description=settings.description,
        clientless_timeout_s=settings.orphan_timeout_s,
        connect_limit_s=settings.connect_timeout_s,
        shutdown_s=stop_share_s(settings),
        uploads=upload_settings(settings),
    )


def upload_settings(settings: ServeSettings) -> UploadSettings:
    """Return how much clients may send, and where it is kept."""
    parent = settings.uploads_path
    return UploadSettings(
        parent=None if parent is None else parent.absolute(),  # the model may change the folder
        max_file_bytes=settings.max_upload,
        max_session_bytes=settings.max_session_uploads,
        max_picture_pixels=settings.max_picture_pixels,
        min_free_bytes=settings.min_free_disk,
    )


def web_rtc_settings(settings: ServeSettings) -> WebRtcSettings:
    """Return what connections are told."""
    stun = [IceServer(uris=(uri,)) for uri in settings.stun]
    turn = [
        IceServer(uris=(relay.uri,), username=relay.username, credential=relay.credential)
        for relay in settings.turn
    ]
    return WebRtcSettings(
        ice_servers=(*stun, *turn),
        connect_timeout_s=settings.connect_timeout_s,
        max_connections=settings.max_connections,
        public_address=settings.public_address,
        port_range=settings.port_range,
        playout_delay=_PLAYOUT_DELAYS[settings.playout_delay],
    )
