"""Wiring: what every part of a session is given."""

from dataclasses import dataclass

from reactor_runtime.clock import Clock
from reactor_runtime.metrics import Metrics
from reactor_runtime.session.endings import Endings
from reactor_runtime.session.publishers import Publishers
from reactor_runtime.session.recorder import Recorder
from reactor_runtime.session.session_settings import SessionSettings
from reactor_runtime.session.step_keeper import StepKeeper
from reactor_runtime.session.tally import Tally
from reactor_runtime.task_set import TaskSet
from reactor_runtime.uploads.upload_store import UploadStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Settings, time, figures, files and tasks of one session object.

    Attributes:
        settings: Limits and delays.
        clock: The time.
        metrics: The figures of this server.
        tally: Those of them that every frame moves.
        uploads: The files that clients send.
        publishers: Who feeds which input track.
        tasks: Background tasks, ended when the session object is closed.
        recorder: Who records the sessions, ``None`` for nobody.
        step_keeper: Who keeps the result of every step, ``None`` for nobody.
        endings: How earlier sessions ended.
    """

    settings: SessionSettings
    clock: Clock
    metrics: Metrics
    tally: Tally
    uploads: UploadStore
    publishers: Publishers
    tasks: TaskSet
    recorder: Recorder | None = None
    step_keeper: StepKeeper | None = None
    endings: Endings
