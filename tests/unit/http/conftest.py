from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest

from reactor_runtime.http.app import create_app
from reactor_runtime.http.server_settings import ServerSettings
from reactor_runtime.http.stage import Stage
from reactor_runtime.metrics import Metrics

ClientOf = Callable[[Stage], AbstractAsyncContextManager[httpx.AsyncClient]]


@asynccontextmanager
async def client_of(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the application itself, without a socket; errors inside are answers."""
    transport = httpx.ASGITransport(create_app(stage), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        yield client


@pytest.fixture
def stage() -> Stage:
    """A server whose model is still being imported."""
    return Stage(ServerSettings(body_timeout_s=0.5), Metrics())


@pytest.fixture
async def loading(stage: Stage) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(stage) as client:
        yield client


@pytest.fixture
def connect() -> ClientOf:
    return client_of
