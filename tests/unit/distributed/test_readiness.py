"""Waits for one file, whatever its number."""

import fcntl
import os
import resource

import pytest

from reactor_runtime.distributed.readiness import is_readable, is_writable


@pytest.mark.parametrize("lowest", [3, 1500])
def test_a_file_of_any_number_can_be_waited_for(lowest: int) -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= lowest:
        pytest.skip(f"a process may have no file number {lowest} here")
    ends = os.pipe()
    near, far = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, lowest) for end in ends)
    assert not is_readable(near, 0.0)
    assert not is_readable(near, 0.01)
    assert is_writable(far, 1.0)
    os.write(far, b"!")
    assert is_readable(near, 1.0)
    os.read(near, 1)
    for end in (far, ends[1]):
        os.close(end)
    assert is_readable(near, -1.0)  # its end
    for end in (near, ends[0]):
        os.close(end)
