"""FailurePolicy: whether a host may serve another session after one that failed."""

from reactor_runtime.author_text import text_of
from reactor_runtime.exception_chain import exception_chain
from reactor_runtime.host.host_settings import OnFailure

MAX_FAILED_IN_A_ROW = 3

# A device that reported one of these is not trusted again: its context, and every tensor in it,
# may be lost.
_DEVICE_ERRORS = ("AcceleratorError", "OutOfMemoryError", "CudaError", "CUDARuntimeError")
_DEVICE_WORDS = (
    "CUDA error", "CUDA out of memory", "CUDA driver", "CUDA kernel", "device-side assert",
    "cuDNN error", "CUDNN_STATUS", "CUBLAS_STATUS", "NCCL error",
)  # fmt: skip


class FailurePolicy:
    """Counts the sessions that failed in a row."""

    def __init__(self, on_failure: OnFailure) -> None:
        self._on_failure = on_failure
        self._failed_in_a_row = 0

    def session_went_well(self) -> None:
        """Forget earlier failures."""
        self._failed_in_a_row = 0

    def verdict(self, error: BaseException) -> str:
        """Count a failed session; return why the host may serve no further one, "" if it may."""
        self._failed_in_a_row += 1
        if self._on_failure != OnFailure.KEEP:
            return f"a step failed (on_failure: {self._on_failure})"
        if is_device_error(error):
            return "the device failed"
        if self._failed_in_a_row >= MAX_FAILED_IN_A_ROW:
            return f"{MAX_FAILED_IN_A_ROW} sessions in a row failed, last"
        return ""


def is_device_error(error: BaseException) -> bool:
    """Return whether *error*, or what caused it, came from a CUDA device."""
    return any(map(_is_of_device, exception_chain(error)))


def _is_of_device(error: BaseException) -> bool:
    kind = type(error)
    if kind.__module__.startswith("torch.cuda") or kind.__name__ in _DEVICE_ERRORS:
        return True
    return isinstance(error, RuntimeError) and any(w in text_of(error) for w in _DEVICE_WORDS)
