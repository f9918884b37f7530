"""DistributedJob: what is asked for, checked whole before anything starts."""

import difflib
import fnmatch
import json
import os
import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from reactor_runtime.errors import JobSpecError

MAX_SPEC_BYTES = 256 * 1024
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
        raise ValueError("a NUL byte cannot be passed to a process")
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
            raise ValueError(
                "c10d gives nodes their ranks by itself, in whatever order it finds them; the plan "
                "says which node runs which ranks: leave kind at static"
            )
        if value != "static":
            raise ValueError(f"{value!r} is no kind of rendezvous; leave it at static")
        return value


class Checkpoint(_Strict):
    """The opt-in that lets a failed job start again, whole, from its newest complete checkpoint.

    Attributes:
        path: Folder of checkpoints, one sub-folder per step; shared by all nodes.
        max_attempts: How often the job may be started in all.
    """

    path: str = Field(min_length=1)
    resume: Literal[True]
    max_attempts: int = Field(default=2, ge=1, le=1000)


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

    name: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$")
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
        return self.entrypoint.removeprefix(_MODULE) if self._is_module() else None

    @property
    def attempts_allowed(self) -> int:
        """How often the job may be started in all."""
        return self.checkpoint.max_attempts if self.checkpoint else 1

    def _is_module(self) -> bool:
        return self.entrypoint.startswith(_MODULE)

    @field_validator("max_attempts")
    @classmethod
    def _is_never_retried(cls, value: int) -> int:
        if value != 1:
            raise ValueError(
                "distributed jobs are never retried automatically: leave max_attempts at 1, or "
                "write a checkpoint: block with resume: true and max_attempts in it"
            )
        return value

    @field_validator("outputs")
    @classmethod
    def _stays_inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in value:
            if PurePosixPath(pattern).is_absolute() or ".." in PurePosixPath(pattern).parts:
                raise ValueError(f"{pattern!r} leaves the working directory")
            try:
                list(Path(os.devnull).glob(pattern))  # which only then looks at the pattern
            except (ValueError, NotImplementedError) as error:
                raise ValueError(f"{pattern!r} is no glob: {error}") from None
        return value

    @field_validator("env")
    @classmethod
    def _leaves_torchrun_alone(cls, value: dict[str, str]) -> dict[str, str]:
        wrong = sorted(name for name in value if not name or "=" in name or "\0" in name)
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no name of a variable")
        taken = sorted(name for name in value if is_scrubbed(name))
        if taken:
            raise ValueError(f"{', '.join(taken)}: the launcher sets these itself; leave them out")
        return value

    @model_validator(mode="after")
    def _has_an_entrypoint(self) -> "DistributedJob":
        if self._is_module():
            if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", self.entrypoint[len(_MODULE) :]):
                raise ValueError(f"entrypoint: {self.entrypoint!r} names no module")
            return self
        path = PurePosixPath(self.entrypoint)
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"entrypoint: {self.entrypoint!r} must be a path inside source")
        return self


def load_job(path: Path) -> tuple[DistributedJob, Path]:
    """Read a job file, YAML or JSON.

    Returns:
        The job, and its source folder as a path.

    Raises:
        JobSpecError: The file cannot be read or says something wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise JobSpecError(str(path), "", f"cannot be read ({error})") from None
    job = parse_job(text, str(path))
    folder = (path.parent / job.source).resolve()
    if not folder.is_dir():
        raise JobSpecError(str(path), "source", f"{folder} is no folder")
    if job.module is None and not (folder / job.entrypoint).is_file():
        raise JobSpecError(str(path), "entrypoint", f"{job.entrypoint} is no file in {folder}")
    return job, folder


def parse_job(text: str, where: str) -> DistributedJob:
    """Return the job that *text* describes.

    Raises:
        JobSpecError: It says something wrong; the message names the key.
    """
    if len(text) > MAX_SPEC_BYTES:
        raise JobSpecError(where, "", f"is larger than {MAX_SPEC_BYTES} bytes")
    try:
        tree = json.loads(text) if text.lstrip().startswith("{") else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise JobSpecError(where, "", f"is neither YAML nor JSON: {error}") from None
    if not isinstance(tree, dict):
        raise JobSpecError(where, "", "wanted a mapping with name, entrypoint and num_workers")
    try:
        return DistributedJob.model_validate(tree)
    except ValidationError as error:
        raise _first_mistake(where, error) from None


def _first_mistake(where: str, error: ValidationError) -> JobSpecError:
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return JobSpecError(where, key, f"is no key of a job{_suggestion(first['loc'])}")
    text = str(first["msg"])
    ours = text.removeprefix("Value error, ")
    return JobSpecError(where, key, ours if ours != text else text[:1].lower() + text[1:])


def _suggestion(loc: tuple[int | str, ...]) -> str:
    models: dict[tuple[int | str, ...], type[BaseModel]] = {
        (): DistributedJob,
        ("rendezvous",): Rendezvous,
        ("checkpoint",): Checkpoint,
    }
    known = list(models[loc[:-1]].model_fields) if loc[:-1] in models else []
    near = difflib.get_close_matches(str(loc[-1]), known, n=1, cutoff=0.6)
    return f"; did you mean {near[0]}?" if near else f"; known are {', '.join(known)}"
