"""Whether all ranks took a verb alike."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from reactor_runtime.errors import RankDesync
from reactor_runtime.host.rank_messages import RankReply


def check_alike(phase: str, replies: Sequence[RankReply]) -> None:
    """Raise where outcomes differ.

    Raises:
        RankDesync: It names the first outcome that differs, and the ranks.
    """
    signatures = [reply.signature for reply in replies]
    if len(set(signatures)) > 1:
        raise _desync(phase, signatures)
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


def _desync(phase: str, signatures: list[tuple[object, ...]]) -> RankDesync:
    outcomes = enumerate(zip_longest(*signatures, fillvalue=("nothing",)))
    index, found = next((index, each) for index, each in outcomes if len(set(each)) > 1)
    said = "; ".join(f"rank {rank}: {_words(each)}" for rank, each in enumerate(found))
    return RankDesync(phase, f"outcome {index} differs ({said})", _odd(found))


def _words(outcome: object) -> str:
    return " ".join(map(str, outcome)) if isinstance(outcome, tuple) else str(outcome)


def _odd(found: Sequence[object]) -> tuple[int, ...]:
    """Return the ranks that differ from most, from the leader where it is even."""
    counts = Counter(found)
    most = max(counts.values())
    usual = next(each for each in found if counts[each] == most)
    return tuple(rank for rank, each in enumerate(found) if each != usual)
