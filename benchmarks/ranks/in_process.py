"""Turns in process, of whatever version of this package is found; asked as ``answering`` says."""

import asyncio

from answering import answer
from turns import bare_turns


class InProcess:
    def turn(self):
        return asyncio.run(bare_turns())


if __name__ == "__main__":
    answer(InProcess())
