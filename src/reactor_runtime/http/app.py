"""The HTTP application: routes behind the front door."""

from starlette.applications import Starlette
from starlette.types import ASGIApp

from reactor_runtime.http.access import AccessRules
from reactor_runtime.http.clip_routes import ClipRoutes
from reactor_runtime.http.error_responses import exception_handlers
from reactor_runtime.http.front_door import FrontDoor
from reactor_runtime.http.operator_routes import OperatorRoutes
from reactor_runtime.http.page_routes import PageRoutes
from reactor_runtime.http.session_routes import SessionRoutes
from reactor_runtime.http.signaling_routes import SignalingRoutes
from reactor_runtime.http.stage import Stage
from reactor_runtime.http.step_routes import StepRoutes
from reactor_runtime.http.upload_routes import UploadRoutes
from reactor_runtime.http.whip_routes import WhipRoutes


def create_app(stage: Stage) -> ASGIApp:
    """Return the ASGI application that serves *stage*."""
    page = PageRoutes()
    groups = (
        page,
        OperatorRoutes(stage),
        SessionRoutes(stage),
        SignalingRoutes(stage),
        UploadRoutes(stage),
        ClipRoutes(stage),
        StepRoutes(stage),
        WhipRoutes(stage),
    )
    app = Starlette(
        routes=[route for group in groups for route in group.routes()],
        exception_handlers=exception_handlers(),
    )
    app.router.redirect_slashes = False  # the front door has tidied the path already
    settings = stage.settings
    rules = AccessRules(
        bind_host=settings.host,
        token=settings.token,
        allow_origins=settings.allow_origins,
        allow_hosts=settings.allow_hosts,
    )
    return FrontDoor(app, rules, stage.metrics, page.locked)
