"""Which of several bad signs is the cause."""

from reactor_runtime.distributed.failure_report import describe_failure, original_of, worker_error
from reactor_runtime.distributed.signs import Gravity, Trouble, first_cause
from reactor_runtime.errors import ForeignExceptionError, WorkerCrashed, WorkerError


class BadlyMadeError(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(first)


def death(rank: int) -> Trouble:
    return Trouble(Gravity.DEATH, rank, WorkerCrashed(rank, "setup", -9))


def error(rank: int, gravity: Gravity = Gravity.ERROR) -> Trouble:
    return Trouble(gravity, rank, WorkerError(rank, "setup", "ValueError", "x"))


def test_the_gravest_is_the_cause() -> None:
    collective = error(0, Gravity.COLLECTIVE_ERROR)
    signs = [collective, error(1), death(2)]
    assert first_cause(signs) is signs[2].error
    signs = [collective, error(1)]
    assert first_cause(signs) is signs[1].error


def test_the_earliest_of_a_kind_is_the_cause_and_the_others_are_notes() -> None:
    signs = [error(1), error(0), error(2, Gravity.COLLECTIVE_ERROR)]
    cause = first_cause(signs)
    assert cause is signs[0].error
    assert cause.__notes__ == [
        "also: rank 0 raised ValueError during setup: x",
        "also: rank 2 raised ValueError during setup: x",
    ]


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001 - any
        return caught


def test_an_error_crosses_with_type_text_and_traceback() -> None:
    failure = describe_failure(raised(KeyError("missing")), "warmup")
    found = worker_error(3, failure, failure.phase)
    assert (found.rank, found.phase, found.kind) == (3, "warmup", "KeyError")
    assert "in raised" in found.traceback
    assert isinstance(found.__cause__, KeyError)
    assert "on rank 3: Traceback" in found.__notes__[0]


def test_an_error_that_cannot_cross_says_so_and_keeps_its_text() -> None:
    for bad in (BadlyMadeError("its text", "lost"), type("Local", (Exception,), {})("its text")):
        failure = describe_failure(raised(bad), "warmup")
        assert failure.pickled is None
        found = original_of(failure)
        assert isinstance(found, ForeignExceptionError)
        assert found.message == "its text"
        assert "its text" in str(found)
        assert found.reason


def test_an_error_without_a_text_is_no_second_error() -> None:
    class Mute(Exception):  # noqa: N818 - it says nothing
        def __str__(self) -> str:
            raise RuntimeError

    assert "cannot be read" in describe_failure(raised(Mute()), "warmup").message


def test_the_echo_of_anothers_end_is_told_from_an_error() -> None:
    echo = RuntimeError("[gloo/transport/tcp/pair.cc] Connection closed by peer [127.0.0.1]")
    assert describe_failure(raised(echo), "x").is_collective
    assert not describe_failure(raised(RuntimeError("shape mismatch")), "x").is_collective
    assert not describe_failure(raised(ValueError("nccl")), "x").is_collective
