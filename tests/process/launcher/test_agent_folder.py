"""An agent's work folder is taken until nothing is left of what was started there."""

import subprocess
import threading
from pathlib import Path

import pytest

from reactor_runtime.errors import SettingError
from reactor_runtime.launcher.agent_folder import PATIENCE_S, AgentFolder


def test_the_next_one_waits_for_what_the_last_has_started(tmp_path: Path) -> None:
    with AgentFolder(tmp_path / "a") as first:
        said = first.read_id()
        (first.tasks / "old").mkdir(parents=True)
        child = subprocess.Popen(["sleep", "300"], pass_fds=first.held)
    ids: list[str] = []

    def follow() -> None:
        with AgentFolder(tmp_path / "a") as second:
            assert not second.tasks.exists()
            ids.append(second.read_id())

    next_one = threading.Thread(target=follow)
    next_one.start()
    next_one.join(0.5)
    assert ids == []
    assert (tmp_path / "a" / "tasks" / "old").is_dir()
    child.kill()
    child.wait()
    next_one.join(PATIENCE_S)
    assert ids == [said]
    with AgentFolder(tmp_path / "b") as other:
        assert other.read_id() != said


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    with (
        AgentFolder(tmp_path),
        pytest.raises(SettingError, match="which another agent has"),
        AgentFolder(tmp_path, patience_s=0.2),
    ):
        pass
