"""Calling what an author may have written sync or async."""

import inspect
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def settle(result: T | Awaitable[T]) -> T:
    """Return *result*, awaited where it has to be."""
    return await result if inspect.isawaitable(result) else result
