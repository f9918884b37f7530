"""PlainCommand and PlainGroup: help that shows no value behind flags that take none.

Typer's own has a ``<bool>`` behind every flag.
"""

from typing import Any

from typer.core import TyperCommand, TyperGroup, TyperOption


class PlainCommand(TyperCommand):
    """One command."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, ``--help`` among them."""
        return _plain(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A command of commands."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, ``--help`` among them."""
        return _plain(super().get_params(ctx))


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag:
            param.metavar = ""
    return params
