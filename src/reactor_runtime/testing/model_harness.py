"""ModelHarness: a model under test, driven by ordinary function calls."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from reactor_runtime.clock import FOR_EVER_S
from reactor_runtime.errors import ModelFailedError
from reactor_runtime.host.host_outlet import StepReport
from reactor_runtime.testing.bench import Bench
from reactor_runtime.testing.fake_client import FakeClient
from reactor_runtime.testing.harness_settings import harness_settings
from reactor_runtime.testing.log_capture import LogCapture
from reactor_runtime.testing.loop_thread import LoopThread
from reactor_runtime.testing.own_workers import own_workers

_RANKS_S = 15.0


class ModelHarness:
    """Loads a model, in this process or on ranks, and lets a test be its clients.

    The session, the host and the pacing are those of ``reactor serve``; there is no network, and
    time is a fake clock's. It stands still until a test waits for frames, a message or an error;
    then it moves as the model's pace wants it. ``with`` starts and stops; nothing is left behind.

    Args:
        model_class: The author's class; at the top level of a module where ranks shall find it.
        world_size: 1 runs it in this process, more in as many processes in lockstep.
        config: The path that ``load`` gets.
        seed: Of every session that names none.
        timeout: Seconds (of the machine's time) that each wait, and each turn on ranks, has.
        settings: Any setting of ``reactor serve`` that concerns the model, by its name in the
            manifest; ``init_process_group`` is false and ``device`` ``cpu`` unless given.

    Raises:
        TypeError: There is no such setting, or *model_class* is an instance.
        SettingError: A setting has a wrong value.
    """

    def __init__(
        self,
        model_class: type[Any],
        *,
        world_size: int = 1,
        config: str | Path | None = None,
        seed: int = 0,
        timeout: float = 30.0,
        **settings: Any,
    ) -> None:
        chosen = {"turn_timeout": timeout, "first_turn_timeout": timeout, "load_timeout": 120.0}
        self._settings = harness_settings(model_class, world_size, config, {**chosen, **settings})
        self._model_class, self._seed, self._timeout_s = model_class, seed, timeout
        self._stack: ExitStack | None = None
        self._loop: LoopThread
        self._bench: Bench

    # --- life ---

    def start(self) -> Self:
        """Load the model, unless it is. One that was stopped may be started again.

        Raises:
            ModelFailedError: It failed; the author's exception is the cause.
            WaitTimeoutError: It took longer than ``load_timeout``.
            TypeError: The class declares something that cannot be.
            WorkerGroupRefusedError: The ranks cannot be started like that.
        """
        __tracebackhide__ = True
        if self._stack is not None:
            return self
        self._loop = LoopThread(f"test-of-{self._model_class.__name__}")
        with ExitStack() as stack:
            log = stack.enter_context(LogCapture())
            stack.enter_context(own_workers(self._settings.workers))
            self._loop.start()
            stack.callback(self._loop.stop)
            self._bench = self._loop.do(
                lambda: Bench(self._model_class, self._settings, self._timeout_s, log)
            )
            stack.callback(lambda: self._loop.call(self._bench.close()))
            self._loop.call(self._bench.load(self._load_limit_s))
            self._stack = stack.pop_all()
        return self

    def stop(self) -> None:
        """End the session and the model, and leave nothing behind. Idempotent.

        Raises:
            ModelFailedError: The model failed and no test looked at it, or it does not let go.
        """
        __tracebackhide__ = True
        stack, self._stack = self._stack, None
        if stack is None:
            return
        unseen = self._bench.take_failure()
        seen = self._loop.do(self._bench.describe) if unseen else ""
        stack.close()
        if unseen:
            text = f"the model failed, and no test looked at it: {unseen}"
            raise ModelFailedError(text, seen) from self._bench.log.error
        if stuck := self._bench.parts.host.stacks():
            raise ModelFailedError("the model does not let go", "\n".join(stuck.values()))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        try:
            self.stop()
        except ModelFailedError:
            if error is None:
                raise

    @property
    def _load_limit_s(self) -> float:
        """Seconds to wait for the model; ranks have their own bound, which names the culprit."""
        limit_s = self._settings.load_timeout_s or FOR_EVER_S
        return limit_s + (_RANKS_S if self._settings.isolation == "process" else 0.0)

    # --- sessions and clients ---

    def start_session(self, seed: int | None = None, **body: Any) -> None:
        """Start a session; returns when ``session_started`` has run.

        Args:
            seed: Of its random generators; that of the harness unless given.
            body: What else a start may ask for: ``steps``, ``starting_input``.

        Raises:
            StartRefusedError: It asks for what cannot be.
            SessionStateError: One runs already.
            SessionUnavailableError: ``session_started`` raised (that is the cause), or the model is
                lost.
        """
        __tracebackhide__ = True
        seed = self._seed if seed is None else seed
        self._loop.call(self._bench.start_session({"seed": seed, **body}))

    def end_session(self, reason: str = "") -> None:
        """End the session, clients are told *reason*; returns when ``session_ended`` has run.

        Raises:
            SessionStateError: None runs.
        """
        __tracebackhide__ = True
        self._loop.call(self._bench.end_session(reason))

    def connect(self, name: str | None = None) -> FakeClient:
        """Let a client in, and start a session for it if none runs.

        Args:
            name: The id that the model sees.

        Raises:
            SessionUnavailableError: ``session_started`` raised (that is the cause), or the model is
                lost.
        """
        __tracebackhide__ = True
        connection = self._loop.call(self._bench.connect(name, self._seed))
        return FakeClient(self._bench, self._loop, connection)

    # --- time ---

    def advance(self, seconds: float) -> None:
        """Let *seconds* of the model's time pass: steps run, what times out does."""
        __tracebackhide__ = True
        self._loop.call(self._bench.advance(seconds))

    def until(self, condition: Callable[[], Any], *, timeout: float | None = None) -> None:
        """Let the model run until *condition* holds; it may look at anything, and wait for nothing.

        Raises:
            WaitTimeoutError: It did not.
        """
        __tracebackhide__ = True
        what = f"truth of {getattr(condition, '__qualname__', condition)}"
        self._loop.call(self._bench.wait(what, lambda: condition() or None, timeout))

    @property
    def time_s(self) -> float:
        """Seconds of the model's time since the session began, as ``Frame.time_s`` counts."""
        parts = self._bench.parts
        return round(parts.clock.now() - parts.stream.began, 9)

    # --- what there is to see ---

    @property
    def state(self) -> str:
        """The session's state, such as ``ready``, ``waiting``, ``streaming`` or ``terminated``.

        A session that is ending is waited for.
        """
        __tracebackhide__ = True
        self._loop.settle(self._bench.until_closed())
        return self._bench.parts.session.state.value

    @property
    def failure(self) -> str | None:
        """What ended a session last: the type of an exception; ``None`` when nothing did."""
        self._bench.take_failure()
        failures = self._bench.parts.outlet.failures
        return failures[-1].message if failures else None

    @property
    def steps(self) -> list[StepReport]:
        """The report of every finished step, of all sessions; ``refused`` and ``idle`` ones too."""
        self._loop.settle(self._bench.settle())
        return [*self._bench.parts.outlet.steps]

    @property
    def flushes(self) -> int:
        """How often the model has cut to black."""
        return self._bench.parts.stream.flushes

    @property
    def log(self) -> str:
        """The newest log lines, tracebacks included, at the levels in force."""
        return self._bench.log.text()

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes of the ranks; empty when the model runs in this one."""
        return self._bench.parts.host.pids


def serve_model(model_class: type[Any], **options: Any) -> ModelHarness:
    """Return a model under test, for ``with``; *options* are those of ``ModelHarness``.

    ``pytest`` has a fixture of this name that starts it at once and stops it after the test.
    """
    return ModelHarness(model_class, **options)
