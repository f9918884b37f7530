"""What the module beside it imports, by its bare name."""

from pathlib import Path


def level_in(config: Path) -> int:
    return int(config.read_text().split(":")[1])
