"""A body that is no body is an error that says what to write."""

import pytest
from tests.contract.model_host.recording_outlet import RecordingOutlet
from tests.contract.model_host.stage import Stage
from tests.models import has_no_body

from reactor_runtime.host.host_outlet import HostFailure
from reactor_runtime.host.in_process_host import InProcessHost


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SyncRun", r"SyncRun\.run\(\) must be `async def` and not yield; it returned NoneType"),
        ("YieldingRun", r"YieldingRun\.run\(\) must be `async def` .* returned async_generator"),
        ("CoroutineInference", r"inference\(\) must be a generator.* returned coroutine"),
        ("PlainInference", r"inference\(\) must be a generator.* returned int"),
    ],
)
async def test_what_cannot_run_fails_its_session_with_words(
    name: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    outlet = RecordingOutlet()
    async with InProcessHost(getattr(has_no_body, name), outlet=outlet) as host:
        stage = Stage(host, outlet)
        stage.open()
        await stage.closed()
    assert {failure.message for failure in outlet.of(HostFailure)} == {"TypeError"}
    (error, *_) = [record.exc_info[1] for record in caplog.records if record.exc_info]
    with pytest.raises(TypeError, match=words):
        raise error or AssertionError
