"""An older import path of ``Idle`` and its type."""

from reactor_runtime.model.idle import Idle, _IdleType

__all__ = ["Idle", "_IdleType"]
