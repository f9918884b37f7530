"""A client of its own process that sets a level as fast as it can: URL SESSION PER_SECOND SECONDS.

Prints what it sent last, how many in all, and which answers it got; exits when all have come.
"""

import asyncio
import json
import sys
import time
from collections import Counter

from reactor_sdk import Reactor, ReactorError


async def main(url: str, session: str, per_s: float, seconds: float) -> None:
    reactor = Reactor("flood", local=True, api_url=url, auto_resume_tracks=False)
    await reactor.connect(session_id=session)
    answers: Counter[str] = Counter()
    calls: set[asyncio.Task[None]] = set()

    async def call(level: int) -> None:
        try:
            await reactor.send_command("set_level", {"level": level})
            answers["ok"] += 1
        except ReactorError as error:
            answers[str(error.code)] += 1

    sent, began = 0, time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        for _ in range(min(200, int(passed * per_s) - sent)):
            sent += 1
            task = asyncio.ensure_future(call(sent))
            calls.add(task)
            task.add_done_callback(calls.discard)
        await asyncio.sleep(0)
    if calls:
        await asyncio.wait(calls)
    sys.stdout.write(json.dumps({"sent": sent, "answers": answers}))
    reactor.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
