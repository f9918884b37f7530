"""An agent's work folder is taken until nothing is left of what was started there."""

import subprocess
import threading
import time
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


def test_a_folder_in_use_is_refused_at_once_and_the_cure_is_named(tmp_path: Path) -> None:
    with AgentFolder(tmp_path):
        began = time.monotonic()
        with pytest.raises(SettingError, match="which another agent has") as caught:
            AgentFolder(tmp_path).__enter__()
        assert time.monotonic() - began < PATIENCE_S / 2
    assert "wanted a --name of its own" in str(caught.value)


def test_an_agent_that_ends_is_waited_for(tmp_path: Path) -> None:
    with AgentFolder(tmp_path) as first:
        first.leave()
        with pytest.raises(SettingError, match="an ended agent started"):
            AgentFolder(tmp_path, patience_s=0.2).__enter__()
    with AgentFolder(tmp_path, patience_s=0.2) as second:
        assert second.held
