"""An agent's last word is its last."""

import threading
from pathlib import Path

from tests.unit.launcher.background_control import OFFER, control_plane

from reactor_runtime.launcher.agent import Agent
from reactor_runtime.launcher.agent_folder import AgentFolder
from reactor_runtime.launcher.agent_messages import Beat, BeatAnswer
from reactor_runtime.launcher.control_client import ControlClient


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
        running = threading.Thread(target=agent.run)
        running.start()
        assert slow.begun.wait(30)
        assert client.is_known("a")
        agent.stop()
        running.join(0.5)  # time to go wrong in
        slow.may_go.set()
        running.join(30)
        assert slow.said == [False, True]
        assert not client.is_known("a")
