"""ControlClient: the control plane as agents and commands see it. Blocking; any thread."""

import json
from urllib.parse import quote, urlencode

from reactor_runtime.errors import ControlPlaneError
from reactor_runtime.launcher.agent_messages import (
    Beat,
    BeatAnswer,
    NodeOffer,
    Orders,
    Report,
    Submission,
    Terms,
)
from reactor_runtime.launcher.contracts import DistributedJob
from reactor_runtime.launcher.control_link import REQUEST_S, ControlLink
from reactor_runtime.launcher.file_client import FileClient
from reactor_runtime.launcher.job_record import JobRecord

_GONE = 410
_PATIENT_S = 30.0  # what a person asks for once is not asked for again


class ControlClient:
    """Each call raises ``ControlPlaneAbsentError`` or ``ControlPlaneError`` as its link does."""

    def __init__(self, url: str, token: str | None = None) -> None:
        self._link = ControlLink(url, token)
        self.url = url
        self.files = FileClient(self._link)

    def register(self, offer: NodeOffer) -> Terms:
        """Offer a node."""
        answer = self._link.ask("POST", "/v1/agents", offer.model_dump_json())
        return Terms.model_validate_json(answer)

    def is_known(self, agent_id: str) -> bool:
        """Return whether an agent of that name has registered."""
        return agent_id in json.loads(self._link.ask("GET", "/v1/agents"))

    def beat(self, beat: Beat) -> BeatAnswer | None:
        """Give a sign of life; ``None`` when the node must be offered again."""
        try:
            answer = self._link.ask("POST", "/v1/beats", beat.model_dump_json())
        except ControlPlaneError as error:
            if error.status == _GONE:
                return None
            raise
        return BeatAnswer.model_validate_json(answer)

    def orders(self, beat: Beat, since: int, hold_s: int) -> Orders:
        """Return an agent's orders, at once when they are not those of version *since*."""
        query = urlencode({"incarnation": beat.incarnation, "since": since, "hold_s": hold_s})
        path = f"/v1/agents/{beat.agent_id}/orders?{query}"
        answer = self._link.ask("GET", path, timeout_s=hold_s + REQUEST_S)
        return Orders.model_validate_json(answer)

    def report(self, report: Report) -> None:
        """Say what happened to a task."""
        self._link.ask("POST", "/v1/reports", report.model_dump_json())

    def submit(self, job: DistributedJob, source: str) -> JobRecord:
        """Queue a job whose source was sent."""
        body = Submission(job=job, source=source).model_dump_json()
        answer = self._link.ask("POST", "/v1/jobs", body, timeout_s=_PATIENT_S)
        return JobRecord.model_validate_json(answer)

    def jobs(self) -> list[JobRecord]:
        """Return every job, oldest first."""
        trees = json.loads(self._link.ask("GET", "/v1/jobs"))
        return [JobRecord.model_validate(tree) for tree in trees]

    def job(self, job_id: str) -> JobRecord:
        """Return one job."""
        answer = self._link.ask("GET", f"/v1/jobs/{quote(job_id, safe='')}")
        return JobRecord.model_validate_json(answer)

    def cancel(self, job_id: str) -> JobRecord:
        """Have a job end."""
        path = f"/v1/jobs/{quote(job_id, safe='')}/cancel"
        answer = self._link.ask("POST", path, timeout_s=_PATIENT_S)
        return JobRecord.model_validate_json(answer)
