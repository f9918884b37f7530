import pytest

from reactor_runtime.host.failure_policy import FailurePolicy, is_device_error
from reactor_runtime.host.host_settings import OnFailure

ERROR = ValueError("x")


def test_the_third_failed_session_in_a_row_is_the_last() -> None:
    policy = FailurePolicy(OnFailure.KEEP)
    assert [policy.verdict(ERROR) for _ in range(3)] == ["", "", "3 sessions in a row failed, last"]


def test_a_session_that_went_well_begins_the_count_afresh() -> None:
    policy = FailurePolicy(OnFailure.KEEP)
    for _ in range(3):
        assert policy.verdict(ERROR) == ""
        assert policy.verdict(ERROR) == ""
        policy.session_went_well()


@pytest.mark.parametrize("on_failure", [OnFailure.EXIT, OnFailure.RESTART, "exit"])
def test_other_policies_make_every_failure_fatal(on_failure: OnFailure) -> None:
    assert FailurePolicy(on_failure).verdict(ERROR) == f"a step failed (on_failure: {on_failure})"


class OutOfMemoryError(RuntimeError):
    pass


def test_errors_of_the_device_are_told_from_others() -> None:
    caused = ValueError("x")
    caused.__cause__ = RuntimeError("CUDA error: an illegal memory access was encountered")
    assert is_device_error(caused)
    assert is_device_error(OutOfMemoryError("x"))
    assert is_device_error(RuntimeError("cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"))
    assert not is_device_error(RuntimeError("the prompt says CUDA"))
    assert not is_device_error(ValueError("CUDA error"))


def test_an_error_that_is_its_own_cause_is_told_too() -> None:
    error = ValueError("x")
    error.__cause__ = error
    assert not is_device_error(error)
    error.__cause__ = RuntimeError("CUDA error: an illegal memory access was encountered")
    error.__cause__.__cause__ = error
    assert is_device_error(error)
