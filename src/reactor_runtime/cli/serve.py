"""``reactor serve``: resolve the settings, then serve; with ``--reload``, again and again."""

from typing import Annotated, Any

import typer

from reactor_runtime.cli.setting_flags import texts_of, with_setting_flags


@with_setting_flags
def serve(
    target: Annotated[
        str, typer.Argument(help="A folder with a reactor.yaml, a reactor.yaml, or module:Class.")
    ] = ".",
    *,
    reload: Annotated[
        bool, typer.Option("--reload", help="Start again when a Python or YAML file changes.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in the browser.")
    ] = False,
    **flags: Any,
) -> int:
    """Serve a model until it is stopped.

    A flag beats its environment variable (REACTOR_PORT for --port), which beats
    the key of the same name under runtime in reactor.yaml (port).
    """
    if reload:
        from reactor_runtime.cli.reload import serve_with_reload

        return serve_with_reload(target, flags, open_browser=open_browser)

    from dataclasses import replace

    from reactor_runtime.settings import resolve_settings

    settings = resolve_settings(target, texts_of(flags)).settings

    from reactor_runtime.serve import leave, run

    return leave(run(replace(settings, open_browser=open_browser)))
