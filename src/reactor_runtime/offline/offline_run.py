"""run_offline: drives a model's class without clients and writes its frames to a file."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reactor_runtime.busy_threads import MODEL_THREAD
from reactor_runtime.clock import SystemClock
from reactor_runtime.devices import default_device
from reactor_runtime.distributed import process_group
from reactor_runtime.errors import OfflineRunError
from reactor_runtime.host.host_outlet import OutboundMessage
from reactor_runtime.host.host_settings import HostSettings
from reactor_runtime.host.rank_parts import LoadOrder
from reactor_runtime.host.turn_watch import TurnWatch
from reactor_runtime.media.film import Film
from reactor_runtime.model.contract import ModelContract
from reactor_runtime.model.pace import checked_fps
from reactor_runtime.model.reactor_model import ReactorModel
from reactor_runtime.offline.drive import Drive
from reactor_runtime.offline.peers import Peers
from reactor_runtime.offline.script import Script
from reactor_runtime.offline.seat import OfflineSeat
from reactor_runtime.offline.stage import Stage
from reactor_runtime.stacks import thread_stacks
from reactor_runtime.world import World

_LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineRun:
    """What a run came to. On ranks other than the leader it shows and says nothing.

    Attributes:
        turns: Turns made.
        seconds: Length of the film.
        frames: Video track to the number of its frames.
        files: The files written.
        messages: What the model said, in order: broadcasts, and answers to commands.
    """

    turns: int
    seconds: float = 0.0
    frames: Mapping[str, int] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    messages: tuple[OutboundMessage, ...] = ()


def run_offline(  # noqa: PLR0913 - a published signature
    model: type[ReactorModel],
    *,
    turns: int,
    commands: Iterable[tuple[int, str, Mapping[str, Any]]] = (),
    out: str | Path = "film.mkv",
    seed: int = 0,
    fps: float = 30.0,
    config_path: Path | None = None,
    world: World | None = None,
    check_lockstep: bool = False,
    settings: HostSettings = HostSettings(),  # noqa: B008 - a frozen value
) -> OfflineRun:
    """Run *model* for a number of turns, as a session with one client would, and film it.

    On one process, or, started by torchrun, on every rank alike: each calls this with the same
    arguments, joins the job's process group unless it has, and makes every turn; the leader writes
    the file. Time is the film's: ``turn.time_s`` is what has been shown so far, however long that
    took to compute. The same arguments give the same film. Experimental.

    Args:
        model: The author's class; a hand-written ``run()`` must take ``self.turns()``.
        turns: How many steps to make; refused ones do not count.
        commands: Turn, name and arguments of each command; applied before that turn's step.
        out: The file, ``.mkv``: FFV1 in RGB and 16-bit PCM, both lossless. A second video track
            ``depth`` goes to ``NAME.depth.mkv``. A run that fails leaves ``NAME.part.mkv``.
        seed: The session's.
        fps: Frames per second where the model pins no rate.
        config_path: What ``load`` gets.
        world: This process' place; what torchrun's variables say, else a world of one on the
            device that ``reactor serve`` would take.
        check_lockstep: Compare a digest of every rank's state after every turn.
        settings: ``turn_timeout_s`` and ``first_turn_timeout_s``. Between ranks, the time-out of
            the process group must be longer than any turn.

    Raises:
        OfflineRunError: A command is unknown or was refused, the model waits for a client, or a
            turn takes too long.
        ModelLoadError: The model could not be loaded.
        RankDesync: The ranks differ.
        Exception: What the author's code raised in a step or at the start of the session.
    """
    target = Path(out)
    if target.suffix != ".mkv":
        raise OfflineRunError(None, f"{target.name} must end in .mkv: the film is Matroska")
    contract = ModelContract.of(model)
    script = Script.make(contract, turns, commands, seed)
    place = world or _place()
    order = LoadOrder(
        model=GivenClass(model), config_path=config_path, check_lockstep=check_lockstep
    )
    with _joined(place) as peers, Film(target, contract.tracks) as film:
        stage = Stage(film if place.is_leader else None, checked_fps(fps))
        drive = Drive(
            script=script,
            seat=OfflineSeat(place, peers, stage.hear, stage.pass_time),
            peers=peers,
            stage=stage,
            watch=TurnWatch(SystemClock()),
            settings=settings,
        )
        _watched(drive, order)
    return OfflineRun(
        turns=turns,
        seconds=film.seconds,
        frames=film.frames,
        files=film.files,
        messages=tuple(stage.messages),
    )


def _place() -> World:
    found = World.from_env()
    return found if found.world_size > 1 else replace(found, device=default_device())


@contextmanager
def _joined(place: World) -> Iterator[Peers]:
    """Be one of the job's group; left by all together, or after a failure by each alone."""
    backend = "nccl" if place.device.startswith("cuda") else "gloo"
    has_joined = place.world_size > 1 and process_group.join_job(backend, place.device)
    yield Peers(place)
    if has_joined:
        process_group.leave_group()


@dataclass(frozen=True, slots=True)
class GivenClass:
    """A class that is here already. Implements ``FoundClass``."""

    model: type[ReactorModel]

    @property
    def module(self) -> str:
        """The module it stands in."""
        return self.model.__module__

    @property
    def name(self) -> str:
        """Its name there."""
        return self.model.__qualname__

    def load(self) -> type[ReactorModel]:
        """Return it."""
        return self.model


def _watched(drive: Drive, order: LoadOrder) -> None:
    """Drive on a thread of its own, which is given up when a turn takes too long."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            drive.run(order)
        except BaseException as error:  # noqa: BLE001 - raised where the run was asked for
            failures.append(error)

    thread = threading.Thread(target=run, name=f"{MODEL_THREAD}{order.model.name}", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK_S)
        watch, settings = drive.watch, drive.settings
        is_warm = watch.first_step_is_over
        limit_s = settings.turn_timeout_s if is_warm else settings.first_turn_timeout_s
        if thread.is_alive() and 0 < limit_s < watch.busy_s:
            error = OfflineRunError(drive.stage.turn, f"took longer than {limit_s:g} s")
            error.add_note(thread_stacks().get(thread.name, ""))
            raise error
    if failures:
        raise failures[0]
