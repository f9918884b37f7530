"""Setting: one thing a deployment decides, and by which names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from reactor_runtime.setting_kinds import Kind

MODEL_ENVIRON = "model_environ"
Computed = Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing a deployment decides.

    Attributes:
        name: The field of ``ServeSettings``.
        kind: What a right value is.
        default: The value when nobody gives one.
        computed: Gives the default instead of *default*, from the settings above it in the table
            and, as ``MODEL_ENVIRON``, the environment variables that the model will have.
        about: One line of help.
        group: The heading its flag stands under.
        in_manifest: Whether ``runtime`` has a key for it.
        is_secret: Never shown.
        is_many: The flag may be repeated, the variable holds a comma-separated list.
    """

    name: str
    kind: Kind
    about: str
    group: str
    default: Any = None
    computed: Computed | None = None
    in_manifest: bool = True
    is_secret: bool = False
    is_many: bool = False

    @property
    def label(self) -> str:
        """The name without its unit: the manifest's key."""
        return self.name.removesuffix("_s")

    @property
    def flag(self) -> str:
        """The command-line flag."""
        return f"--{self.label.replace('_', '-')}"

    @property
    def off_flag(self) -> str:
        """The flag that turns a switch off."""
        return f"--no-{self.flag[2:]}"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"REACTOR_{self.label.upper()}"
