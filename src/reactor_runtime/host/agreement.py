"""Whether all ranks took a verb alike."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from reactor_runtime.distributed.messages import Failure
from reactor_runtime.errors import RankDesync
from reactor_runtime.host.failures import in_one_line
from reactor_runtime.host.rank_messages import RankReply
from reactor_runtime.host.rank_report_teller import named, restored
from reactor_runtime.host.rank_reports import failures_in


def check_alike(phase: str, replies: Sequence[RankReply]) -> None:
    """Raise where outcomes differ.

    Raises:
        RankDesync: It names the first outcome that differs, and the ranks.
    """
    signatures = [reply.signature for reply in replies]
    if len(set(signatures)) > 1:
        raise _desync(phase, replies)
    _check_digests(phase, replies)
    refused = [bool(reply.step and reply.step.refused) for reply in replies]
    if len(set(refused)) > 1:
        raise RankDesync(phase, "some ranks refused the step", _odd(refused))


def _check_digests(phase: str, replies: Sequence[RankReply]) -> None:
    digests = [reply.digests for reply in replies]
    for name in sorted({name for each in digests for name in each}):
        found = [each.get(name) for each in digests]
        if len(set(found)) > 1:
            raise RankDesync(phase, f"{name} differs", _odd(found))


def _desync(phase: str, replies: Sequence[RankReply]) -> RankDesync:
    signatures = [reply.signature for reply in replies]
    outcomes = zip_longest(*signatures, fillvalue=("went well",))
    found = next(each for each in outcomes if len(set(each)) > 1)
    raised = [_raised(*each) for each in zip(found, replies, strict=True)]
    said: dict[str, list[int]] = {}
    for rank, (outcome, failure) in enumerate(zip(found, raised, strict=True)):
        said.setdefault(_words(outcome, failure), []).append(rank)
    reason = "; ".join(f"{named(ranks)} {words}" for words, ranks in said.items())
    error = RankDesync(phase, reason, _odd(found))
    for rank, failure in enumerate(raised):
        if failure is not None:
            error.add_note(f"on rank {rank}:\n{failure.traceback.rstrip()}")
    return error


def _raised(outcome: tuple[object, ...], reply: RankReply) -> Failure | None:
    """Return what author code raised on a rank, where *outcome* says that it did."""
    failures = [report.error for report in failures_in(reply.reports)]
    return next((each for each in failures if (each.phase, each.kind) == outcome), None)


def _words(outcome: tuple[object, ...], failure: Failure | None) -> str:
    if failure is not None:
        return f"raised {in_one_line(restored(failure))}"
    if outcome[1:] == ("ok",):
        return "went well"
    if len(outcome) == 2 and isinstance(outcome[0], int):  # a command's number, and its answer
        return f"refused with {outcome[1]!r}"
    return " ".join(map(str, outcome))


def _odd(found: Sequence[object]) -> tuple[int, ...]:
    """Return the ranks that differ from most, from the leader where it is even."""
    counts = Counter(found)
    most = max(counts.values())
    usual = next(each for each in found if counts[each] == most)
    return tuple(rank for rank, each in enumerate(found) if each != usual)
