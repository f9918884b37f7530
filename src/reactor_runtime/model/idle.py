"""Idle: what a step returns when it has nothing to show."""

from typing import Final


class _IdleType:
    """The type of ``Idle``; false, printed by its name, one object however it is copied."""

    _only: "_IdleType | None" = None

    def __new__(cls) -> "_IdleType":
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "Idle"

    def __reduce__(self) -> str:
        return "Idle"


Idle: Final = _IdleType()
