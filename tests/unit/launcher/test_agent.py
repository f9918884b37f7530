"""An agent gives signs of life until it ends, and its last word is its last."""

import threading
from pathlib import Path

from tests.unit.launcher.background_control import OFFER, control_plane
from tests.waiting import wait_for

from reactor_runtime.launcher.agent import Agent
from reactor_runtime.launcher.agent_folder import AgentFolder
from reactor_runtime.launcher.agent_messages import Beat, BeatAnswer, Report, Started
from reactor_runtime.launcher.control_client import ControlClient
from reactor_runtime.launcher.report_spool import ReportSpool

REPORT = Report(
    agent_id=OFFER.agent_id,
    incarnation="0",
    job_id="j-1",
    attempt_id="j-1.1",
    node_rank=0,
    number=1,
    body=Started(),
)


class SlowClient(ControlClient):
    """Its signs of life take as long as the test wants, all but the last."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.begun, self.may_go = threading.Event(), threading.Event()
        self.said: list[bool] = []

    def beat(self, beat: Beat) -> BeatAnswer | None:
        if not beat.is_last:
            self.begun.set()
            assert self.may_go.wait(30)
        answer = super().beat(beat)
        self.said.append(beat.is_last)
        return answer


def test_a_sign_of_life_on_its_way_does_not_come_after_the_last(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client, AgentFolder(tmp_path / "agent") as folder:
        slow = SlowClient(client.url)
        agent = Agent(OFFER, slow, folder, cores=1)
        running = threading.Thread(target=agent.run, daemon=True)
        running.start()
        assert slow.begun.wait(30)
        assert client.is_known("a")
        agent.stop()
        running.join(0.5)  # time to go wrong in
        slow.may_go.set()
        running.join(30)
        assert slow.said == [False, True]
        assert not client.is_known("a")


class BusyClient(ControlClient):
    """Its reports take as long as the test wants."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.begun, self.may_go = threading.Event(), threading.Event()
        self.said: list[bool] = []

    def report(self, report: Report) -> None:
        self.begun.set()
        assert self.may_go.wait(30)
        super().report(report)

    def beat(self, beat: Beat) -> BeatAnswer | None:
        self.said.append(beat.is_last)
        return super().beat(beat)


def test_signs_of_life_go_on_while_an_agent_winds_up(tmp_path: Path) -> None:
    with control_plane(tmp_path) as client, AgentFolder(tmp_path / "agent") as folder:
        nobody = ControlClient("http://127.0.0.1:1")
        ReportSpool(folder.spool, nobody, lambda *_: None).put(REPORT)  # an earlier start's
        busy = BusyClient(client.url)
        agent = Agent(OFFER, busy, folder, cores=1)
        running = threading.Thread(target=agent.run, daemon=True)
        running.start()
        assert busy.begun.wait(30)
        agent.stop()
        before = len(busy.said)
        wait_for(lambda: len(busy.said) >= before + 3)  # one may have been on its way
        busy.may_go.set()
        running.join(30)
        assert busy.said[-1]
        assert not any(busy.said[:-1])
        assert not client.is_known("a")
