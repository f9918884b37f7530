"""The environment of a rank, set before its interpreter starts: pure functions."""

import os
import re
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from reactor_runtime.errors import WorkerGroupRefusedError
from reactor_runtime.world import World

MARK: Final = "REACTOR_RANK"  # "<token>:<rank>/<world size>", in a rank and all it starts
IMPORTING: Final = "REACTOR_RANK_IMPORTS"  # set while a rank imports the author's module

_STALE: Final = re.compile(
    r"(LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)|ROLE_NAME|MASTER_(ADDR|PORT)|(TORCHELASTIC|PET)_.*"
)
_THREADS: Final = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_INTERFACES: Final = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEnvironment:
    """What the environments of a group's ranks have in common.

    Attributes:
        token: Marks the group's processes and whatever they start.
        master_port: A port for user code that reads ``MASTER_PORT``; the group does not use it.
        hash_seed: ``PYTHONHASHSEED`` of every rank.
        author: Variables the author's manifest sets.
    """

    token: str
    master_port: int
    hash_seed: str
    author: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def draw(cls, master_port: int, author: Mapping[str, str]) -> "GroupEnvironment":
        """Return the environment of a new group."""
        return cls(
            token=os.urandom(16).hex(),
            master_port=master_port,
            hash_seed=str(int.from_bytes(os.urandom(4), "big")),
            author=dict(author),
        )

    def of_rank(self, world: World, parent: Mapping[str, str], cores: int) -> dict[str, str]:
        """Return the whole environment of one rank.

        Args:
            world: The rank's place.
            parent: The parent's environment; what another launcher left in it is taken out.
            cores: Processor cores that all ranks share.
        """
        kept = {name: value for name, value in parent.items() if not _STALE.fullmatch(name)}
        share = str(max(1, cores // world.world_size))
        defaults = dict.fromkeys(_THREADS, share) | dict.fromkeys(_INTERFACES, "lo")
        if kept.get("PYTHONHASHSEED", "random") == "random":
            kept["PYTHONHASHSEED"] = self.hash_seed
        return {
            **defaults,
            **kept,
            **self.author,
            "RANK": str(world.rank),
            "LOCAL_RANK": str(world.local_rank),
            "WORLD_SIZE": str(world.world_size),
            "LOCAL_WORLD_SIZE": str(world.world_size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(self.master_port),
            MARK: f"{self.token}:{world.rank}/{world.world_size}",
            IMPORTING: "1",
        }


def with_our_package(environment: dict[str, str]) -> dict[str, str]:
    """Return *environment* with a path to this package, where it is not installed."""
    home = str(Path(__file__).parents[2])
    installed = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    if home in installed:
        return environment
    found = [home, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, "PYTHONPATH": os.pathsep.join(found)}


def python_command(module: str, *arguments: object) -> list[str]:
    """Return the command that runs *module* without the current folder on its path."""
    return [sys.executable, "-P", "-m", module, *map(str, arguments)]


def refuse_inside_a_rank(environment: Mapping[str, str]) -> None:
    """Raise when a worker group may not be built here.

    Raises:
        WorkerGroupRefusedError: This is a rank of several, or one that imports its module.
    """
    mark = environment.get(MARK, "")
    place = re.fullmatch(r"[0-9a-f]+:(\d+)/(\d+)", mark)
    if place is None:
        return
    if IMPORTING in environment:
        what = "a worker group is built while a rank imports the module it is built in"
        raise WorkerGroupRefusedError(what, "put that under `if __name__ == '__main__':`")
    rank, size = map(int, place.groups())
    if size > 1:
        what = f"a worker group is built inside rank {rank} of {size}"
        raise WorkerGroupRefusedError(what, f"serve with world_size: 1 and workers: {size}")
