"""The program of one rank: ``python -m reactor_runtime.distributed.worker_main``.

Its arguments are the parent, the rank, and open files of the parent: the channel, the mailbox for
answers, where stacks go, where log lines go. What it loads is small: neither a server nor media,
and torch only if a process group is wanted.
"""

import contextlib
import gc
import io
import os
import socket
import sys

from reactor_runtime.distributed.rank_life import die_with, obey_signals, show_stacks_in

_WRITERS = (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)


def main(arguments: list[str]) -> None:
    """Run the rank to its end."""
    parent, rank, *files = map(int, arguments)
    die_with(parent)
    obey_signals()
    for descriptor in files:
        os.set_inheritable(descriptor, False)
    channel_file, answers_file, stacks_file, log_file = files
    show_stacks_in(stacks_file)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]

    from reactor_runtime.distributed.channel import Channel
    from reactor_runtime.distributed.rank_line import RankLine
    from reactor_runtime.distributed.rank_program import RankProgram

    channel, answers = (
        Channel(socket.socket(fileno=file)) for file in (channel_file, answers_file)
    )
    log = os.fdopen(log_file, "w", encoding="utf-8", buffering=1)
    RankProgram(RankLine(rank, channel, answers), log).run()
    # The interpreter looks for garbage several times as it ends, which takes half a second where
    # torch is loaded. Once is enough; but what is still held then is not closed any more.
    gc.collect()
    _write_out_files()
    gc.freeze()


def _write_out_files() -> None:
    for each in gc.get_objects():
        if issubclass(type(each), _WRITERS):
            with contextlib.suppress(Exception):  # closed, or full: nobody is left to be told
                each.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
