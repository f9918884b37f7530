"""One node's torchrun, whatever goes wrong on this side of it."""

import errno
import shutil
from pathlib import Path
from threading import Event

import pytest
from tests.process.launcher.cluster import SCRIPTS, bearing

from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.network import NodeAddress
from reactor_runtime.launcher.node_process import NodeProcess, place_here
from reactor_runtime.launcher.plan import plan_group
from reactor_runtime.launcher.rendezvous_store import HeldStore
from reactor_runtime.launcher.torchrun import RANK_ENTRY, torchrun_argv

pytestmark = [pytest.mark.torch, pytest.mark.timeout(200)]


def test_a_full_disk_for_log_lines_leaves_no_process(tmp_path: Path) -> None:
    job = DistributedJob(
        name="j", entrypoint="act.py", args=("flood", "-1", "9"), env={"TEST_FOLDER": str(tmp_path)}
    )
    store = HeldStore("127.0.0.1", None)
    attempt = f"j-1.1.{tmp_path.name}"
    here = NodeAddress(interface="lo", address="127.0.0.1")
    place = place_here(attempt, here, str(tmp_path / "logs"), 1, None)
    work = shutil.copytree(SCRIPTS, tmp_path / "work")
    process = NodeProcess(plan_group(job)[0], store.endpoint, place, work)

    def write(lines: bytes) -> None:
        if lines:
            assert bearing(f"REACTOR_ATTEMPT_ID={attempt}") != {}
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        process.run(300, write, Event())
    assert bearing(f"REACTOR_ATTEMPT_ID={attempt}") == {}
    store.close()


@pytest.mark.parametrize(
    "args", [("--m", "3"), ("--log", "x"), ("--node-rank", "7", "-m"), ("--", "--help"), ("--n=1",)]
)
def test_a_scripts_arguments_are_none_of_torchruns(args: tuple[str, ...]) -> None:
    from torch.distributed.run import get_args_parser

    (task,) = plan_group(DistributedJob(name="j", entrypoint="t.py", args=args))
    given = get_args_parser().parse_args(torchrun_argv(task, "127.0.0.1:4000")[3:])
    assert (given.module, given.node_rank) == (True, 0)
    assert [given.training_script, *given.training_script_args] == [RANK_ENTRY, "t.py", *args]
