"""Text of an author's making, in a form that can be told: an exception's, a refusal's."""

from enum import Enum
from typing import Final

_MOST_CHARS: Final = 4096


def text_of(value: object) -> str:
    """Return *value* as text that any client and log can hold; never raises."""
    try:
        text = str(value.value if isinstance(value, Enum) else value)
    except BaseException:  # noqa: BLE001 - author code: its __str__ may raise, SystemExit too
        return f"({type(value).__name__}, whose text cannot be read)"
    text = text.encode("utf-8", "replace").decode()  # without halves of characters
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
