"""FolderWatch: notices that a Python or YAML file changed, by looking."""

import os
from pathlib import Path

_WATCHED = (".py", ".yaml", ".yml")
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "venv"})
_MAX_FILES = 5_000


class FolderWatch:
    """Compares the files of a folder, at every look, with those of the look before."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = self._look()

    def changes(self) -> list[Path]:
        """Return the files that were added, changed or removed since the last call."""
        now, before = self._look(), self._seen
        self._seen = now
        return sorted(
            path for path in now.keys() | before.keys() if now.get(path) != before.get(path)
        )

    def _look(self) -> dict[Path, tuple[int, int]]:
        files: dict[Path, tuple[int, int]] = {}
        for place, folders, names in os.walk(self._folder):
            folders[:] = [n for n in folders if n not in _SKIPPED and not n.startswith(".")]
            for name in names:
                if not name.endswith(_WATCHED):
                    continue
                path = Path(place, name)
                try:
                    state = path.stat()
                except OSError:  # it went away between listing and looking
                    continue
                files[path] = (state.st_mtime_ns, state.st_size)
                if len(files) >= _MAX_FILES:
                    return files
        return files
