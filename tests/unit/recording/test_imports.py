"""A server that records nothing does not load what records."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["live_server", "served_model", "http.app", "settings"])
def test_recording_loads_when_it_is_wanted(module: str) -> None:
    code = (
        f"import sys, reactor_runtime.{module}; "
        "sys.exit(any(m.startswith('reactor_runtime.recording') for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
