"""The ``reactor`` command: one line per mistake, and help that loads nothing heavy.

Every command imports what it needs inside itself. Exit status: 0 right, 1 the model failed or the
doctor found something, 2 a mistake in a flag, variable, manifest or import, 130 interrupted;
``exit_status.py`` has those of ``reactor serve``.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from reactor_runtime import __version__
from reactor_runtime.cli.agent import agent
from reactor_runtime.cli.check import check
from reactor_runtime.cli.control_plane import control_plane
from reactor_runtime.cli.docs import docs
from reactor_runtime.cli.doctor import doctor
from reactor_runtime.cli.init import init
from reactor_runtime.cli.jobs import jobs
from reactor_runtime.cli.launch import launch
from reactor_runtime.cli.plain_flags import PlainCommand, PlainGroup
from reactor_runtime.cli.schema import schema
from reactor_runtime.cli.serve import serve
from reactor_runtime.cli.submit import submit
from reactor_runtime.errors import ConfigurationError, ReactorError

FAILED, MISTAKEN, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="reactor",
    cls=PlainGroup,
    help="Serve a real-time generative model over WebRTC: one class, one device or many.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=PlainCommand)(serve)
app.command(cls=PlainCommand)(check)
app.command(cls=PlainCommand)(schema)
app.command(cls=PlainCommand)(init)
app.command(cls=PlainCommand)(doctor)
app.command(cls=PlainCommand)(docs)
app.command(cls=PlainCommand)(launch)
app.command(cls=PlainCommand)(control_plane)
app.command(cls=PlainCommand)(agent)
app.command(cls=PlainCommand)(submit)
app.add_typer(jobs, name="jobs")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"reactor_runtime {__version__}")
        raise typer.Exit


@app.callback()
def reactor(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Serve a real-time generative model over WebRTC: one class, one device or many."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; a foreseen mistake is one line on stderr."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = app(given, prog_name="reactor", standalone_mode=False)
    except ConfigurationError as error:
        return _complain(str(error), MISTAKEN)
    except ReactorError as error:
        return _complain(str(error), FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if not hasattr(error, "format_message"):  # a usage error, whichever click raised it
            raise
        text = str(error.format_message())
        return _complain(_usage(error, text), MISTAKEN) if text else MISTAKEN  # help was shown
    return status if isinstance(status, int) else 0


def _usage(error: Exception, text: str) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "reactor"
    return f"{text.rstrip('.')} (see `{command} --help`)"


def _complain(text: str, status: int) -> int:
    print(f"reactor: {' '.join(text.split())}", file=sys.stderr)
    return status


def main() -> None:
    """Run the command line and exit with its status."""
    sys.exit(run())


if __name__ == "__main__":
    main()
