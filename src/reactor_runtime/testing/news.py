"""News: tells one waiting task of a loop, from any thread, to look again."""

import asyncio
from contextlib import suppress


class News:
    """Made on the loop of the one who waits."""

    def __init__(self) -> None:
        self._loop, self._come = asyncio.get_running_loop(), asyncio.Event()

    def tell(self) -> None:
        """Have the one who waits look again."""
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._come.set)

    def clear(self) -> None:
        """Forget what was told."""
        self._come.clear()

    async def within(self, seconds: float) -> bool:
        """Wait to be told; ``False`` when it does not happen within *seconds*."""
        try:
            async with asyncio.timeout(seconds):
                await self._come.wait()
        except TimeoutError:
            return False
        return True
