"""DistributedJob: what is asked for, checked whole before anything starts."""

import fnmatch
import importlib.util
import os
import re
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from reactor_runtime.errors import JobSpecError
from reactor_runtime.mistake import first_mistake, problem
from reactor_runtime.yaml_file import FileKind, YamlFile, describe, read_yaml_file

SCRUBBED = ("PET_*", "MASTER_*", "RANK*", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
            "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_*", "TORCHELASTIC_*")  # fmt: skip
_MODULE = "module:"
_YEAR_S = 366 * 86400


def is_scrubbed(name: str) -> bool:
    """Return whether environment variable *name* belongs to torchrun and never passes through."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in SCRUBBED)


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _can_be_passed(value: str) -> str:
    if "\0" in value:
        raise problem("a NUL byte", "text that can be passed to a process")
    return value


Text = Annotated[str, BeforeValidator(_as_text), AfterValidator(_can_be_passed)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Rendezvous(_Strict):
    """How the nodes of a job meet: a store on the node of rank 0, at a port known before torchrun.

    Attributes:
        port: TCP port on node 0; the system picks one when it is not given.
        join_timeout_s: Seconds in which all nodes must have met.
        interface: Network interface on every node; each agent's own when not given.
    """

    kind: str = "static"
    port: int | None = Field(default=None, ge=1, le=65535)
    join_timeout_s: float = Field(default=60.0, gt=0, le=86400)
    interface: str | None = None

    @field_validator("kind")
    @classmethod
    def _is_planned(cls, value: str) -> str:
        if value == "c10d":
            raise problem(
                "c10d",
                "static: c10d gives nodes their ranks by itself, in whatever order it finds them; "
                "the plan says which node runs which ranks",
            )
        if value != "static":
            raise problem(value, "static")
        return value


class Checkpoint(_Strict):
    """The opt-in that lets a failed job start again, whole, from its newest complete checkpoint.

    Attributes:
        path: Folder of checkpoints, one sub-folder per step; shared by all nodes.
        max_attempts: How often the job may be started in all.
    """

    path: str = Field(min_length=1)
    resume: bool
    max_attempts: int = Field(default=2, ge=1, le=1000)

    @field_validator("resume")
    @classmethod
    def _is_asked_for(cls, value: bool) -> bool:
        if not value:
            raise problem("false", "true, or no checkpoint: block")
        return value


class DistributedJob(_Strict):
    """One logical workload over ``num_workers`` nodes of ``procs_per_worker`` processes each.

    Attributes:
        entrypoint: A script inside *source*, or ``module:`` and a module's name.
        source: Folder that is packed and unpacked afresh on every node; its working directory.
        comm_timeout_s: Time-out of every collective: it alone bounds a cut link.
        timeout_s: Seconds from torchrun's start after which the job has failed.
        outputs: Globs, relative to the working directory, of files that are kept per node.
        labels: What an agent's labels must say for it to take part.
    """

    name: str
    num_workers: int = Field(default=1, ge=1, le=4096)
    procs_per_worker: int = Field(default=1, ge=1, le=1024)
    launcher: Literal["torchrun"] = "torchrun"
    comm_backend: Literal["gloo", "nccl"] = "gloo"
    entrypoint: str = Field(min_length=1)
    args: tuple[Text, ...] = ()
    env: dict[str, Text] = Field(default_factory=dict)
    source: str = "."
    rendezvous: Rendezvous = Rendezvous()
    failure_policy: Literal["fail_fast"] = "fail_fast"
    timeout_s: float = Field(default=86400.0, gt=0, le=_YEAR_S)
    comm_timeout_s: float = Field(default=60.0, gt=0, le=_YEAR_S)
    outputs: tuple[str, ...] = ()
    labels: dict[str, Text] = Field(default_factory=dict)
    max_attempts: int = 1
    checkpoint: Checkpoint | None = None

    @property
    def module(self) -> str | None:
        """The module to run, ``None`` when the entry point is a script."""
        is_module = self.entrypoint.startswith(_MODULE)
        return self.entrypoint.removeprefix(_MODULE) if is_module else None

    @property
    def attempts_allowed(self) -> int:
        """How often the job may be started in all."""
        return self.checkpoint.max_attempts if self.checkpoint else 1

    @field_validator("max_attempts")
    @classmethod
    def _is_never_retried(cls, value: int) -> int:
        if value != 1:
            raise problem(
                str(value),
                "1: distributed jobs are never retried automatically, unless a checkpoint: block "
                "with resume: true and max_attempts in it says so",
            )
        return value

    @field_validator("outputs")
    @classmethod
    def _stays_inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            if PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
                raise problem(repr(pattern), "a glob that stays in the working directory")
            try:
                list(Path(os.devnull).glob(pattern))  # which only then looks at the pattern
            except (ValueError, NotImplementedError) as error:
                raise problem(f"{pattern!r} ({error})", "a glob, such as film-*.mkv") from None
        return value

    @field_validator("env")
    @classmethod
    def _leaves_torchrun_alone(cls, value: dict[str, str]) -> dict[str, str]:
        wrong = sorted(name for name in value if not name or "=" in name or "\0" in name)
        if wrong:
            raise problem(f"the name {wrong[0]!r}", "names that a variable can have")
        taken = sorted(name for name in value if is_scrubbed(name))
        if taken:
            raise problem(", ".join(taken), "it left out: the launcher sets these itself")
        return value

    @field_validator("name")
    @classmethod
    def _names_files(cls, value: str) -> str:
        if not re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}", value):
            raise problem(
                describe(value), "1 to 63 letters, digits and _ . -, a letter or digit first"
            )
        return value

    @field_validator("entrypoint")
    @classmethod
    def _can_be_run(cls, value: str) -> str:
        if value.startswith(_MODULE):
            if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", value[len(_MODULE) :]):
                raise problem(value, "module: and the name of a module, such as module:pkg.train")
            return value
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts:
            raise problem(value, "a path inside source")
        return value


_KIND = FileKind(name="a job file", needs="name and entrypoint", error=JobSpecError)


def load_job(path: Path, *, runs_here: bool = False) -> tuple[DistributedJob, Path]:
    """Read a job file, YAML or JSON.

    Args:
        path: The file.
        runs_here: This machine runs it, so that a module that is not here is nowhere.

    Returns:
        The job, and its source folder as a path.

    Raises:
        JobSpecError: The file cannot be read or says something wrong; it names file, line, key,
            what was found and wanted.
    """
    file = read_yaml_file(path, _KIND)
    job = _job_in(file)
    folder = (path.parent / job.source).resolve()
    if not folder.is_dir():
        raise _missing(file, "source", f"{job.source}, which is no folder", f"{folder} to be one")
    if job.module is None and not (folder / job.entrypoint).is_file():
        found = f"{job.entrypoint}, which is no file in {folder}"
        wanted = "a script there, or module: and a module's name"
        if ":" in job.entrypoint:
            wanted += " (a served class runs by module:reactor_runtime.offline)"
        raise _missing(file, "entrypoint", found, wanted)
    if runs_here and job.module is not None and not _is_here(job.module, _own_path(job, folder)):
        found = f"{job.entrypoint}, which is neither in {folder} nor installed"
        raise _missing(file, "entrypoint", found, "module: and the name of a module that is")
    return job, folder


def _own_path(job: DistributedJob, folder: Path) -> list[str]:
    """Return where its ranks look for modules before they look among what is installed."""
    given = job.env.get("PYTHONPATH", "").split(os.pathsep)
    return [str(folder), *(str(folder / each) for each in given if each)]


def _is_here(module: str, where: list[str]) -> bool:
    """Return whether *module* is in *where*, or its package installed. Runs nothing of them."""
    names = module.split(".")
    for count in range(1, len(names) + 1):
        spec = PathFinder.find_spec(".".join(names[:count]), where)
        if spec is None:
            break
        where = list(spec.submodule_search_locations or ())
    else:
        return True
    try:
        return importlib.util.find_spec(names[0]) is not None
    except ValueError:  # a module that has not been imported from anywhere, as __main__ is
        return False


def _job_in(file: YamlFile) -> DistributedJob:
    try:
        return DistributedJob.model_validate(_as_written(file.tree))
    except ValidationError as error:
        mistake = first_mistake(error, DistributedJob, file.tree)
        line = file.line_of(mistake.place)
        where = str(file.path)
        raise JobSpecError(where, mistake.key, mistake.found, mistake.wanted, line) from None


def _missing(file: YamlFile, key: str, found: str, wanted: str) -> JobSpecError:
    return JobSpecError(str(file.path), key, found, wanted, file.line_of((key,)))


def _as_written(tree: Any) -> Any:
    """Return *tree* with the text of its leaves: which kind each is, its key decides."""
    if isinstance(tree, dict):
        return {key: _as_written(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_as_written(value) for value in tree]
    return None if tree.is_null else tree.text
