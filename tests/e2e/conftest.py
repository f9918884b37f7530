from collections.abc import AsyncIterator

import pytest_asyncio
from tests.e2e.chromium import Chromium


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Chromium]:
    """One Chromium for the tests of a module, on the module's loop."""
    async with Chromium() as chromium:
        yield chromium
