"""Where the control plane is and what it wants to see: the flags that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reactor_runtime.errors import SettingError

if TYPE_CHECKING:
    from reactor_runtime.launcher.control_client import ControlClient

DEFAULT_PORT = 7077
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_MIN_TOKEN = 16

Control = Annotated[str, typer.Option(envvar="REACTOR_CONTROL", help="URL of the control plane.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(envvar="REACTOR_TOKEN_FILE", help="File with the control plane's token."),
]


def read_token(file: Path | None) -> str | None:
    """Return the token in *file*.

    Raises:
        SettingError: It cannot be read, or is too short to be a secret.
    """
    if file is None:
        return None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        raise SettingError("--token-file", f"{file} ({error})", "a file that can be read") from None
    if len(token) < _MIN_TOKEN or not token.isascii() or not token.isprintable():
        wanted = f"at least {_MIN_TOKEN} printable ASCII characters"
        raise SettingError("--token-file", f"{len(token)} characters in {file}", wanted)
    return token


def client_of(control: str, token_file: Path | None) -> "ControlClient":
    """Return a client of the control plane at *control*."""
    from reactor_runtime.launcher.control_client import ControlClient

    return ControlClient(control, read_token(token_file))


def labels_of(given: list[str]) -> dict[str, str]:
    """Return ``k=v`` flags as a mapping.

    Raises:
        SettingError: One has no equals sign.
    """
    for label in given:
        if "=" not in label:
            raise SettingError("--label", label, "name=value")
    return dict(label.split("=", 1) for label in given)
