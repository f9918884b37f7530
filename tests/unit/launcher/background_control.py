"""A control plane in the background of a test, over HTTP, and a job that one agent runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reactor_runtime.launcher.agent_messages import NodeOffer, Report
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.control_program import ControlProgram
from reactor_runtime.launcher.job_record import JobRecord, TaskRecord
from reactor_runtime.launcher.source_bundle import pack_source
from reactor_runtime.launcher.task_run import Body
from reactor_runtime.listening_socket import open_sockets

OFFER = NodeOffer(
    agent_id="a", incarnation="1", host_id="h", address="10.0.0.1", interface="eth0", procs=1
)


@contextmanager
def control_plane(folder: Path) -> Iterator[ControlClient]:
    listeners = open_sockets("127.0.0.1", 0)
    with ControlProgram(state=folder / "s", outputs=folder / "o").in_background(listeners):
        yield ControlClient(f"http://127.0.0.1:{listeners[0].getsockname()[1]}")


def running_job(client: ControlClient, folder: Path) -> JobRecord:
    (folder / "source").mkdir()
    pack_source(folder / "source", folder / "archive")
    client.register(OFFER)
    job = DistributedJob(name="j", entrypoint="t.py")
    return client.submit(job, client.files.send_source(folder / "archive"))


def report_of(job: JobRecord, number: int, body: Body) -> Report:
    """Return what the agent says of node 0's task."""
    assert job.attempt is not None
    return Report(
        agent_id=OFFER.agent_id,
        incarnation=OFFER.incarnation,
        job_id=job.job_id,
        attempt_id=job.attempt.attempt_id,
        node_rank=0,
        number=number,
        body=body,
    )


def task_of(client: ControlClient, job: JobRecord) -> TaskRecord:
    """Return node 0's task as the control plane knows it now."""
    attempt = client.job(job.job_id).attempt
    assert attempt is not None
    return attempt.tasks[0]
