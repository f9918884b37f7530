"""Where a model's files lie."""

from pathlib import Path

import pytest

from reactor_runtime import get_weights_path
from reactor_runtime.paths import WEIGHTS_VARIABLE


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(tmp_path))
    assert get_weights_path() == tmp_path
    assert get_weights_path("net", "a.pt") == tmp_path / "net" / "a.pt"


def test_without_it_weights_lie_in_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(WEIGHTS_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    assert get_weights_path() == tmp_path / "weights"
