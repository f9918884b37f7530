"""The state file belongs to one control plane at a time."""

from pathlib import Path

import pytest

from reactor_runtime.errors import SettingError
from reactor_runtime.launcher.job_store import JobStore


def test_a_state_file_in_use_is_refused_and_free_again_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    JobStore(path).close()
    store = JobStore(path)  # nothing has been written by this one
    with pytest.raises(SettingError, match=r"--state: .*state\.sqlite \(database is locked\)"):
        JobStore(path)
    store.close()
    JobStore(path).close()


def test_what_is_no_state_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, however long it is\n" * 100)
    with pytest.raises(SettingError, match="not a database"):
        JobStore(tmp_path / "text")
    with pytest.raises(SettingError, match="unable to open"):
        JobStore(tmp_path)
