from collections.abc import AsyncIterator

import pytest
from tests.unit.session.room import Room


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    """A session whose model has loaded."""
    room = Room()
    await room.ready()
    yield room
    await room.session.close()


@pytest.fixture
async def started(room: Room) -> Room:
    """A running session without clients."""
    await room.started()
    return room
