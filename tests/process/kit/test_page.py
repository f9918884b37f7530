"""What the page on testing shows runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "testing.md"


def test_every_snippet_of_the_page_runs(tmp_path: Path) -> None:
    files = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert [name for name, _ in files] == [
        "levels.py", "test_levels.py", "test_time.py", "bands.py", "test_bands.py",
    ]  # fmt: skip
    for name, text in files:
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(
        [*command, "-W", "default::pytest.PytestDeprecationWarning"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert "5 passed" in done.stdout, done.stdout + done.stderr
